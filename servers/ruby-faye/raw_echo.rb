# frozen_string_literal: true

# Sends every message back as it came, text as text and binary as binary; for
# Autobahn|Testsuite. Reads nothing in it.
class RawEcho
  def text(client, text)
    client.send(text)
  end

  def binary(client, bytes)
    client.send(bytes)
  end
end
