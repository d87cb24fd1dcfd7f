# frozen_string_literal: true

# Stands in for the gem http_parser.rb, whose Java half Debian does not package:
# as much of its interface as em-websocket's handshake uses. Reads the head of
# one request (RFC 7230, section 3) and no body; knows no folded header lines.

module HTTP
  class Parser
    class Error < StandardError; end

    # Bytes; the limit of the gem.
    LARGEST_HEAD = 80 * 1024
    REQUEST_LINE = %r{\A([!#-'*+\-.^-z|~A-Z0-9]+) (\S+) HTTP/1\.\d\z}n
    HEADER_LINE = /\A([!#-'*+\-.^-z|~A-Z0-9]+):[ \t]*(.*?)[ \t]*\z/n

    attr_reader :headers, :http_method, :request_url, :upgrade_data
    attr_writer :on_headers_complete

    def initialize
      @head = String.new(encoding: Encoding::BINARY)
    end

    # @param data [String] the next bytes of the request
    # @raise [Error] when they are no HTTP request
    def <<(data)
      @head << data
      head, blank_line, rest = @head.partition("\r\n\r\n")
      raise Error, "more than #{LARGEST_HEAD} bytes" if head.bytesize > LARGEST_HEAD
      return self if blank_line.empty?

      read(*head.split("\r\n"))
      @upgrade_data = rest
      @on_headers_complete.call(@headers)
      self
    end

    def upgrade?
      tokens = field('connection').split(',').map { |token| token.strip.downcase }
      tokens.include?('upgrade') && !field('upgrade').empty?
    end

    private

    def read(request_line, *header_lines)
      @http_method, @request_url = REQUEST_LINE.match(request_line.to_s)&.captures
      raise Error, 'bad request line' unless @http_method

      @headers = header_lines.each_with_object({}) do |line, headers|
        name, value = HEADER_LINE.match(line)&.captures
        raise Error, 'bad header line' unless name

        headers[name] = headers.key?(name) ? "#{headers[name]}, #{value}" : value
      end
    end

    def field(name)
      @headers.find { |key, _| key.casecmp?(name) }&.last || ''
    end
  end
end

# The name that em-websocket uses.
Http = HTTP
