package shootout.boot;

/** The command line of the server. */
record Options(String host, int port, Broker broker, boolean virtualThreads, boolean rawEcho, boolean version,
        boolean help) {

    /** Where a broker speaks STOMP. */
    record Broker(String host, int port) {}

    static final String HELP = """
            java-spring-boot-server: the websocket-shootout protocol on Spring Boot

              --host HOST  address to listen on (default 127.0.0.1)
              --port N     TCP port (default 3040)
              --broker HOST:PORT  pass broadcasts on through the broker that speaks STOMP there
              --virtual-threads  a virtual thread for each request and each send (Java 21 or newer)
              --raw-echo   send every message back as it came, for Autobahn|Testsuite
              --version    print the versions of the libraries and exit
              --help       print this text and exit
            """;

    /** @throws IllegalArgumentException with a message for the user: an unknown flag or an unfit value */
    static Options parse(String[] args) {
        String host = "127.0.0.1";
        int port = 3040;
        Broker broker = null;
        boolean virtualThreads = false;
        boolean rawEcho = false;
        boolean version = false;
        boolean help = false;
        for (int i = 0; i < args.length; i++) {
            switch (args[i]) {
                case "--host" -> host = value(args, i++);
                case "--port" -> port = number(args[i], value(args, i++), 65535);
                case "--broker" -> broker = broker(args, i++);
                case "--virtual-threads" -> virtualThreads = true;
                case "--raw-echo" -> rawEcho = true;
                case "--version" -> version = true;
                case "--help" -> help = true;
                default -> throw new IllegalArgumentException("unknown argument \"" + args[i] + "\"");
            }
        }
        return new Options(host, port, broker, virtualThreads, rawEcho, version, help);
    }

    private static String value(String[] args, int flag) {
        if (flag + 1 == args.length) {
            throw new IllegalArgumentException(args[flag] + " needs a value");
        }
        return args[flag + 1];
    }

    private static Broker broker(String[] args, int flag) {
        String address = value(args, flag);
        int colon = address.lastIndexOf(':');
        if (colon < 1) {
            throw new IllegalArgumentException(args[flag] + ": \"" + address + "\" is not HOST:PORT");
        }
        return new Broker(address.substring(0, colon), number(args[flag], address.substring(colon + 1), 65535));
    }

    private static int number(String flag, String text, int highest) {
        try {
            int number = Integer.parseInt(text);
            if (number >= 1 && number <= highest) {
                return number;
            }
        } catch (NumberFormatException notANumber) {
            // answered below, as a number out of range is
        }
        throw new IllegalArgumentException(
                flag + ": \"" + text + "\" is not a number from 1 to " + highest);
    }
}
