# frozen_string_literal: true

# The command line. A wrong one ends the program with code 2 and a line on
# stderr; --help and --version end it with 0.

require 'em-websocket/version'
require 'optparse'

module Options
  DEFAULTS = { address: '127.0.0.1', port: 8080, raw_echo: false }.freeze

  # @param arguments [Array<String>]
  # @return [Hash] :address, :port, :raw_echo
  def self.parse(arguments)
    options = DEFAULTS.dup
    rest = parser(options).parse(arguments)
    return options if rest.empty?

    raise OptionParser::InvalidArgument, rest.join(' ')
  rescue OptionParser::ParseError => e
    warn "server.rb: #{e.message}; see --help"
    exit 2
  end

  def self.parser(options)
    OptionParser.new('Usage: ruby server.rb [options]') do |flags|
      flags.on('--version', 'print the versions') do
        puts versions
        exit
      end
      flags.on('-a', '--host HOST', '--address HOST',
               "address to listen on (default #{DEFAULTS[:address]})") do |host|
        options[:address] = host
      end
      flags.on('-p', '--port PORT', Integer, "TCP port (default #{DEFAULTS[:port]})") do |port|
        raise OptionParser::InvalidArgument, port.to_s unless port.between?(1, 65_535)

        options[:port] = port
      end
      flags.on('--raw-echo', 'send every message back as it came') { options[:raw_echo] = true }
    end
  end
  private_class_method :parser

  def self.versions
    "em-websocket #{EM::Websocket::VERSION} " \
      "(EventMachine #{EM::VERSION}, #{RUBY_ENGINE} #{RUBY_ENGINE_VERSION})"
  end
  private_class_method :versions
end
