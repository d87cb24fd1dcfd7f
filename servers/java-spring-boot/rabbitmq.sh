#!/bin/sh
# Runs RabbitMQ in the foreground, with STOMP on one port and nothing else: rabbitmq.sh HOST PORT EPMD_PORT
# All that it writes is in a folder under target/, made anew at each start and removed at the end. A folder
# whose RabbitMQ was killed is removed by the next start, of whatever port.
set -eu

host=$1
port=$2
epmd_port=$3
all=$PWD/target/rabbitmq
folder=$all/$port
mkdir -p "$all"

# Whoever runs in a folder holds its lock, RabbitMQ's own processes included.
for lock in "$all"/*.lock; do
  test -e "$lock" && flock --nonblock "$lock" rm -rf "${lock%.lock}" "$lock" || true
done
exec 9>"$folder.lock"
flock 9
mkdir -p "$folder"

echo '[rabbitmq_stomp].' >"$folder/plugins"
cat >"$folder/rabbitmq.conf" <<END
listeners.tcp = none
stomp.listeners.tcp.1 = $host:$port
# With a network between servers and clients, HOST is no loopback address.
loopback_users = none
log.console = true
log.console.level = warning
log.file = false
END

export HOME="$folder"
export ERL_EPMD_PORT="$epmd_port"
export ERL_CRASH_DUMP=/dev/null
export RABBITMQ_NODENAME="rabbit-$port@localhost"
# RabbitMQ takes no port that the system chooses. This one is in neither range, of servers nor of clients.
export RABBITMQ_DIST_PORT=$((port - 10000))
export RABBITMQ_MNESIA_BASE="$folder/state"
export RABBITMQ_LOG_BASE="$folder/logs"
export RABBITMQ_ENABLED_PLUGINS_FILE="$folder/plugins"
export RABBITMQ_CONFIG_FILE="$folder/rabbitmq.conf"
export RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="-start_epmd false -kernel inet_dist_use_interface {127,0,0,1}"

# The signal goes to the whole group, so RabbitMQ has it too.
trap : INT TERM
/usr/lib/rabbitmq/bin/rabbitmq-server &
broker=$!
status=0
wait "$broker" || status=$?
# The first wait ends with the signal, this one with RabbitMQ.
wait "$broker" || status=$?
rm -rf "$folder" "$folder.lock"
exit "$status"
