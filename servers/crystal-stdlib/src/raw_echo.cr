require "./client"

# Sends every message back as it came, text as text and binary as binary; for
# Autobahn|Testsuite. Reads nothing in it.
class RawEcho
  def text(client : Client, text : String) : Nil
    client.send(text)
  end

  def binary(client : Client, bytes : Bytes) : Nil
    client.send(bytes)
  end
end
