package shootout.quarkus;

import io.vertx.core.buffer.Buffer;

/** What is done with the connections and their messages. */
interface Handler {

    void join(Client client);

    void leave(Client client);

    void onText(Client client, String message);

    void onBinary(Client client, Buffer message);
}
