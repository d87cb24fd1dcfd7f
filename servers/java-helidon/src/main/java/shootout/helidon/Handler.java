package shootout.helidon;

/** What is done with the connections and their messages. */
interface Handler {

    void join(Client client);

    void leave(Client client);

    void onText(Client client, String message);

    void onBinary(Client client, byte[] message);
}
