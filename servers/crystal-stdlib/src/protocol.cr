require "json"
require "./hub"

# The text and binary dialects of docs/protocol.md, over a hub.
class Protocol
  # How deep a message may be nested, as in JSON::PullParser; JSON::Builder's own
  # default is 99.
  MAX_NESTING = 512

  # The members of a message that count; a later one of the same name replaces
  # the one before.
  struct Request
    getter type : String?
    # Nil unless it is a name of a topic.
    getter topic : String?
    # Kept as JSON, and so numbers of any size.
    getter payload : String?

    def initialize(parser : JSON::PullParser)
      parser.read_object do |key|
        case key
        when "type"    then @type = read_string(parser)
        when "topic"   then @topic = read_string(parser).try { |text| text if Topics.name?(text) }
        when "payload" then @payload = read_raw(parser)
        else                parser.skip
        end
      end
    end

    private def read_string(parser) : String?
      return parser.read_string if parser.kind.string?

      parser.skip
    end

    private def read_raw(parser) : String
      JSON.build do |json|
        json.max_nesting = MAX_NESTING
        parser.read_raw(json)
      end
    end
  end

  def initialize(@hub : Hub)
  end

  def text(client : Client, text : String) : Nil
    request = parse(text)
    case request.type
    when "subscribe", "unsubscribe", "publish"
      about_topic(client, request)
    else
      about_payload(client, request)
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

  private def about_payload(client, request) : Nil
    payload = request.payload
    return fail(client, %("payload" is missing)) unless payload

    case request.type
    when "echo"
      client.send(encode("echo", payload))
    when "broadcast"
      broadcast(client, encode("broadcast", payload), encode("broadcastResult", payload))
    else
      fail(client, %("type" is missing or unknown))
    end
  end

  private def about_topic(client, request) : Nil
    topic = request.topic
    return fail(client, %("topic" is missing or no name of a topic)) unless topic

    case request.type
    when "subscribe"
      @hub.topics.subscribe(client, topic)
      client.send({type: "subscribed", topic: topic}.to_json)
    when "unsubscribe"
      @hub.topics.unsubscribe(client, topic)
      client.send({type: "unsubscribed", topic: topic}.to_json)
    else
      publish(client, topic, request.payload)
    end
  end

  private def publish(client, topic, payload) : Nil
    return fail(client, %("payload" is missing)) unless payload

    @hub.topics.publish(topic, encode("message", payload, topic))
    client.send(encode("publishResult", payload, topic))
    Fiber.yield # as after a broadcast
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
  private def encode(type, payload, topic = nil) : String
    JSON.build do |json|
      json.object do
        json.field "type", type
        json.field "topic", topic if topic
        json.field("payload") { json.raw(payload) }
      end
    end
  end
end
