#!/usr/bin/perl
# perl-mojolicious: echo and broadcast on Mojolicious, see docs/protocol.md.
use Mojolicious::Lite -signatures;

use FindBin;
use lib "$FindBin::Bin/lib";

use Cpanel::JSON::XS ();
use EV               ();
use Getopt::Long     qw(GetOptionsFromArray);
use Mojo::Server::Daemon;
use Mojo::Util qw(decode);
use Mojolicious;
use Shootout::Hub;
use Shootout::Protocol;

use constant MAX_MESSAGE => 16 * 1024 * 1024;

my %options = (host => '127.0.0.1', port => 3000);
my $parsed  = GetOptionsFromArray(\@ARGV, \%options, qw(host=s port=i raw-echo deflate version));
if (!$parsed || @ARGV) {
  warn "server.pl: unexpected argument \"@ARGV\"\n" if @ARGV;
  warn "usage: perl server.pl [--host HOST] [--port PORT] [--raw-echo] [--deflate] [--version]\n";
  exit 2;
}
if ($options{version}) {
  say "Mojolicious $Mojolicious::VERSION (EV $EV::VERSION, ",
    "Cpanel::JSON::XS $Cpanel::JSON::XS::VERSION, Perl $^V)";
  exit 0;
}

# The library leaves UTF-8 to the application (RFC 6455, section 8.1).
sub is_utf8 ($tx, $bytes) {
  return 1 if defined decode 'UTF-8', $bytes;
  $tx->finish(1007);
  return 0;
}

my $hub      = Shootout::Hub->new;
my $protocol = Shootout::Protocol->new($hub);

# The library itself answers a handshake without these, too.
my %handshake = ('Sec-WebSocket-Key' => qr/^[\w+\/]{22}==$/, 'Sec-WebSocket-Version' => qr/^13$/);

websocket '/ws' => (headers => \%handshake) => sub ($c) {
  my $tx = $c->tx->max_websocket_size(MAX_MESSAGE);
  $tx->with_compression if $options{deflate};
  $c->inactivity_timeout(0);
  $hub->join($tx);
  # By the controller, which holds the transaction weakly: a handler that held it would keep it for ever.
  $c->on(finish => sub ($c, @) { $hub->leave($c->tx) });
  if ($options{'raw-echo'}) {
    $c->on(text   => sub ($c, $bytes) { is_utf8($c->tx, $bytes) && $hub->send($c->tx, {text => $bytes}) });
    $c->on(binary => sub ($c, $bytes) { $hub->send($c->tx, {binary => $bytes}) });
  }
  else {
    $c->on(text   => sub ($c, $bytes) { is_utf8($c->tx, $bytes) && $protocol->text($c->tx, $bytes) });
    $c->on(binary => sub ($c, $bytes) { $protocol->binary($c->tx, $bytes) });
  }
};

app->log->level('fatal');
my $daemon = Mojo::Server::Daemon->new(
  app         => app,
  listen      => ["http://$options{host}:$options{port}"],
  max_clients => 1_000_000,
  backlog     => 4096,
  silent      => 1,
);
eval { $daemon->start; 1 } or do {
  warn "server.pl: cannot listen on $options{host}:$options{port}: ", $@ =~ s/ at \S+ line \d+\.?\n.*//sr, "\n";
  exit 1;
};
$daemon->run;
