require "option_parser"

# The command line. A wrong one ends the program with code 2 and a line on
# stderr; --help and --version end it with 0.
class Options
  getter host = "127.0.0.1"
  getter port = 3000
  getter? raw_echo = false

  def self.parse : self
    new.tap(&.read)
  end

  protected def read : Nil
    OptionParser.parse do |flags|
      flags.banner = "Usage: crystal-stdlib-server [options]"
      flags.on("--host HOST", "address to listen on (default #{host})") { |host| @host = host }
      flags.on("--port PORT", "TCP port (default #{port})") do |port|
        @port = port.to_i?.try { |number| number if 1 <= number <= 65_535 } || refuse("--port #{port}")
      end
      flags.on("--raw-echo", "send every message back as it came") { @raw_echo = true }
      flags.on("--version", "print the version") do
        puts "Crystal #{Crystal::VERSION}"
        exit
      end
      flags.on("--help", "print this") do
        puts flags
        exit
      end
      flags.invalid_option { |flag| refuse(flag) }
      flags.missing_option { |flag| refuse(flag) }
      flags.unknown_args { |before, after| (before + after).first?.try { |argument| refuse(argument) } }
    end
  end

  private def refuse(argument) : NoReturn
    STDERR.puts "crystal-stdlib-server: invalid argument #{argument}; see --help"
    exit 2
  end
end
