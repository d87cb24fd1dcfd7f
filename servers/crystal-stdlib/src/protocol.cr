require "json"
require "./hub"

# The text and binary dialects of docs/protocol.md, over a hub.
class Protocol
  # How deep a message may be nested, as in JSON::PullParser; JSON::Builder's own
  # default is 99.
  MAX_NESTING = 512

  # Keeps the payload as JSON, and so numbers of any size.
  module RawPayload
    def self.from_json(parser : JSON::PullParser) : String
      JSON.build do |json|
        json.max_nesting = MAX_NESTING
        parser.read_raw(json)
      end
    end
  end

  struct Request
    include JSON::Serializable

    getter type : String

    @[JSON::Field(converter: Protocol::RawPayload)]
    getter payload : String
  end

  def initialize(@hub : Hub)
  end

  def text(client : Client, text : String) : Nil
    request = parse(text)
    case request.type
    when "echo"
      client.send(encode("echo", request.payload))
    when "broadcast"
      broadcast(client, encode("broadcast", request.payload), encode("broadcastResult", request.payload))
    else
      fail(client, %("type" is neither "echo" nor "broadcast"))
    end
  rescue error : JSON::Error
    fail(client, error.message || "the message cannot be read")
  end

  def binary(client : Client, bytes : Bytes) : Nil
    case bytes.first?
    when 'e'.ord
      client.send(bytes)
    when 'b'.ord
      result = bytes.dup
      result[0] = 'r'.ord.to_u8
      broadcast(client, bytes, result)
    when nil
      fail(client, "the binary message is empty")
    else
      fail(client, %(byte 0 is neither "e" nor "b"))
    end
  end

  private def broadcast(client, message, result) : Nil
    @hub.broadcast(message)
    client.send(result)
    # A fiber goes on reading while there is input. The others must write in
    # between, or else queues fill.
    Fiber.yield
  end

  private def parse(text) : Request
    parser = JSON::PullParser.new(text)
    request = Request.new(parser)
    parser.raise "more than one JSON value" unless parser.kind.eof?
    request
  end

  private def fail(client, words) : Nil
    client.send(encode("error", words.to_json))
  end

  # *payload* is JSON.
  private def encode(type, payload) : String
    JSON.build do |json|
      json.object do
        json.field "type", type
        json.field("payload") { json.raw(payload) }
      end
    end
  end
end
