# frozen_string_literal: true

# Sends every message back as it came, text as text and binary as binary; for
# Autobahn|Testsuite. Reads nothing in it.
class RawEcho
  def initialize(hub)
    @hub = hub
  end

  def text(client, text)
    @hub.send_text(client, text)
  end

  def binary(client, bytes)
    @hub.send_binary(client, bytes)
  end
end
