package shootout.spring;

/** The command line of the server. */
record Options(String host, int port, boolean virtualThreads, boolean rawEcho, boolean version, boolean help) {

    static final String HELP = """
            java-spring-server: the websocket-shootout protocol on Spring

              --host HOST  address to listen on (default 127.0.0.1)
              --port N     TCP port (default 3034)
              --virtual-threads  a virtual thread for each request (Java 21 or newer)
              --raw-echo   send every message back as it came, for Autobahn|Testsuite
              --version    print the versions of the libraries and exit
              --help       print this text and exit
            """;

    /** @throws IllegalArgumentException with a message for the user: an unknown flag or an unfit value */
    static Options parse(String[] args) {
        String host = "127.0.0.1";
        int port = 3034;
        boolean virtualThreads = false;
        boolean rawEcho = false;
        boolean version = false;
        boolean help = false;
        for (int i = 0; i < args.length; i++) {
            switch (args[i]) {
                case "--host" -> host = value(args, i++);
                case "--port" -> port = number(args, i++, 65535);
                case "--virtual-threads" -> virtualThreads = true;
                case "--raw-echo" -> rawEcho = true;
                case "--version" -> version = true;
                case "--help" -> help = true;
                default -> throw new IllegalArgumentException("unknown argument \"" + args[i] + "\"");
            }
        }
        return new Options(host, port, virtualThreads, rawEcho, version, help);
    }

    private static String value(String[] args, int flag) {
        if (flag + 1 == args.length) {
            throw new IllegalArgumentException(args[flag] + " needs a value");
        }
        return args[flag + 1];
    }

    private static int number(String[] args, int flag, int highest) {
        String text = value(args, flag);
        try {
            int number = Integer.parseInt(text);
            if (number >= 1 && number <= highest) {
                return number;
            }
        } catch (NumberFormatException notANumber) {
            // answered below, as a number out of range is
        }
        throw new IllegalArgumentException(
                args[flag] + ": \"" + text + "\" is not a number from 1 to " + highest);
    }
}
