package Shootout::Hub;

# The open connections, the broadcast to them, and the bound on what waits for each. Knows no
# messages.

use Mojo::Base -strict, -signatures;

use Mojo::IOLoop;
use Shootout::Topics;

# Bytes; docs/protocol.md, "Limits".
use constant MAX_QUEUED => 64 * 1024 * 1024;

sub new ($class) { bless {clients => {}, topics => Shootout::Topics->new}, $class }

sub join ($self, $tx) {
  $self->{clients}{$tx->connection} = [$tx, Mojo::IOLoop->stream($tx->connection)];
}

sub leave ($self, $tx) {
  delete $self->{clients}{$tx->connection};
  $self->{topics}->leave($tx->connection);
}

sub subscribe ($self, $tx, $topic) {
  my $client = $self->{clients}{$tx->connection} or return;
  $self->{topics}->subscribe($tx->connection, $client, $topic);
}

sub unsubscribe ($self, $tx, $topic) { $self->{topics}->unsubscribe($tx->connection, $topic) }

# $message is {text => BYTES} or {binary => BYTES}.
sub send ($self, $tx, $message) {
  my $client = $self->{clients}{$tx->connection} or return;
  _send(@$client, $tx->build_message($message));
}

# Returns when the message is queued on every connection.
sub broadcast ($self, $message) { _send_all($message, values %{$self->{clients}}) }

# Returns when the message is queued for every subscriber.
sub publish ($self, $topic, $message) { _send_all($message, $self->{topics}->subscribers($topic)) }

# The message is built once; with compression for each client, since it changes that one's context.
sub _send_all ($message, @clients) {
  my $shared;
  for my $client (@clients) {
    my $tx    = $client->[0];
    my $built = $tx->compressed ? $tx->build_message($message) : ($shared //= $tx->build_message($message));
    _send(@$client, $built);
  }
}

# A client for which more would wait is cut off; one message is taken whatever its size.
sub _send ($tx, $stream, $built) {
  my $waiting = $stream->bytes_waiting;
  return $stream->close if $waiting && $waiting + length $built->[5] > MAX_QUEUED;
  $tx->send($built);
}

1;
