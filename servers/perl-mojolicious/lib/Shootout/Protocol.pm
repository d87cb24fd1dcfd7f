package Shootout::Protocol;

# The text and binary dialects of docs/protocol.md, over a hub.

use Mojo::Base -strict, -signatures;

use Cpanel::JSON::XS;
use List::Util qw(any);
use Shootout::Topics;

use constant NO_TOPIC => '"topic" is missing or no name of a topic';

# Without allow_bignum a number passes through Perl's own form of 15 digits.
my $JSON = Cpanel::JSON::XS->new->utf8->allow_nonref->allow_bignum->allow_dupkeys->max_depth(1000);

sub new ($class, $hub) { bless {hub => $hub}, $class }

# $bytes is not decoded, but known to be UTF-8.
sub text ($self, $tx, $bytes) {
  my $message = eval { $JSON->decode($bytes) };
  return $self->_error($tx, 'the message is not a JSON object') unless ref $message eq 'HASH';
  my $type = ref $message->{type} ? '' : $message->{type} // '';
  return $self->_subscription($tx, $type, $message->{topic})
    if $type eq 'subscribe' || $type eq 'unsubscribe';
  return $self->_error($tx, '"payload" is missing') unless exists $message->{payload};
  return $self->_error($tx, 'a number is too large or too small')
    if $bytes =~ /[0-9][eE][-+]?[0-9]{4}/ && _huge($message->{payload});

  my $payload = $message->{payload};
  if ($type eq 'echo') {
    $self->{hub}->send($tx, _text(echo => $payload));
  }
  elsif ($type eq 'broadcast') {
    $self->{hub}->broadcast(_text(broadcast => $payload));
    $self->{hub}->send($tx, _text(broadcastResult => $payload));
  }
  elsif ($type eq 'publish') { $self->_publish($tx, $message->{topic}, $payload) }
  else                       { $self->_error($tx, '"type" is unknown') }
}

sub _subscription ($self, $tx, $type, $topic) {
  return $self->_error($tx, NO_TOPIC) unless Shootout::Topics::is_name($topic);
  $self->{hub}->$type($tx, $topic);
  $self->{hub}->send($tx, _json(type => "${type}d", topic => $topic));
}

sub _publish ($self, $tx, $topic, $payload) {
  return $self->_error($tx, NO_TOPIC) unless Shootout::Topics::is_name($topic);
  $self->{hub}->publish($topic, _json(type => 'message', topic => $topic, payload => $payload));
  $self->{hub}->send($tx, _json(type => 'publishResult', topic => $topic, payload => $payload));
}

sub binary ($self, $tx, $bytes) {
  my $type = substr $bytes, 0, 1;
  if ($type eq 'e') {
    $self->{hub}->send($tx, {binary => $bytes});
  }
  elsif ($type eq 'b') {
    $self->{hub}->broadcast({binary => $bytes});
    substr $bytes, 0, 1, 'r';
    $self->{hub}->send($tx, {binary => $bytes});
  }
  else { $self->_error($tx, 'byte 0 is neither "e" nor "b"') }
}

# A number is written without an exponent: of 1e9999999 it would make 10 MB.
sub _huge ($value) {
  my $class = ref $value;
  return any { _huge($_) } @$value        if $class eq 'ARRAY';
  return any { _huge($_) } values %$value if $class eq 'HASH';
  return $class eq 'Math::BigFloat' && abs($value->exponent) > 999;
}

sub _text ($type, $payload) { _json(type => $type, payload => $payload) }

sub _json (%members) { {text => $JSON->encode(\%members)} }

sub _error ($self, $tx, $words) { $self->{hub}->send($tx, _text(error => $words)) }

1;
