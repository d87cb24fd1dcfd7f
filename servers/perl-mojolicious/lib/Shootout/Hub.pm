package Shootout::Hub;

# The open connections, the broadcast to them, and the bound on what waits for each. Knows no
# messages.

use Mojo::Base -strict, -signatures;

use Mojo::IOLoop;

# Bytes; docs/protocol.md, "Limits".
use constant MAX_QUEUED => 64 * 1024 * 1024;

sub new ($class) { bless {clients => {}}, $class }

sub join ($self, $tx) {
  $self->{clients}{$tx->connection} = [$tx, Mojo::IOLoop->stream($tx->connection)];
}

sub leave ($self, $tx) { delete $self->{clients}{$tx->connection} }

# $message is {text => BYTES} or {binary => BYTES}.
sub send ($self, $tx, $message) {
  my $client = $self->{clients}{$tx->connection} or return;
  _send(@$client, $tx->build_message($message));
}

# The message is built once. Returns when it is queued on every connection.
sub broadcast ($self, $message) {
  my @clients = values %{$self->{clients}} or return;
  my $built   = $clients[0][0]->build_message($message);
  _send(@$_, $built) for @clients;
}

# A client for which more would wait is cut off; one message is taken whatever its size.
sub _send ($tx, $stream, $built) {
  my $waiting = $stream->bytes_waiting;
  return $stream->close if $waiting && $waiting + length $built->[5] > MAX_QUEUED;
  $tx->send($built);
}

1;
