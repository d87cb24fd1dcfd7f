package Shootout::Topics;

# Who is subscribed to what. Clients are known by their number and whatever the hub keeps of them.
# Topics without subscribers, and clients without topics, are not kept.

use Mojo::Base -strict, -signatures;

use B ();

sub new ($class) { bless {subscribers => {}, subscriptions => {}}, $class }

# A number is no name, a string of digits is one.
sub is_name ($value) {
  return 0 unless defined $value && !ref $value && B::svref_2object(\$value)->FLAGS & B::SVf_POK;
  return $value =~ /\A[A-Za-z0-9._:-]{1,64}\z/;
}

sub subscribe ($self, $number, $client, $topic) {
  $self->{subscriptions}{$number}{$topic} = 1;
  $self->{subscribers}{$topic}{$number}   = $client;
}

sub unsubscribe ($self, $number, $topic) {
  my $topics = $self->{subscriptions}{$number} or return;
  delete $topics->{$topic}                     or return;
  delete $self->{subscriptions}{$number} unless %$topics;
  $self->_remove($number, $topic);
}

# Ends all subscriptions of a client.
sub leave ($self, $number) {
  my $topics = delete $self->{subscriptions}{$number} or return;
  $self->_remove($number, $_) for keys %$topics;
}

sub subscribers ($self, $topic) { values %{$self->{subscribers}{$topic} // {}} }

sub _remove ($self, $number, $topic) {
  my $clients = $self->{subscribers}{$topic};
  delete $clients->{$number};
  delete $self->{subscribers}{$topic} unless %$clients;
}

1;
