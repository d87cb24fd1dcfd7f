package shootout.webflux;

/** What is done with the connections and their messages. */
abstract class Handler {

    abstract void join(Client client);

    abstract void leave(Client client);

    abstract void onText(Client client, String message);

    abstract void onBinary(Client client, byte[] message);
}
