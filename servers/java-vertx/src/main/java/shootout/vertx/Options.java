package shootout.vertx;

import java.util.ArrayList;
import java.util.List;

/** The command line of the server. */
record Options(
        String host,
        int port,
        int threads,
        String tlsCert,
        String tlsKey,
        boolean deflate,
        boolean rawEcho,
        List<Integer> nodePorts,
        boolean version,
        boolean help) {

    static final String HELP = """
            java-vertx-server: the websocket-shootout protocol on Vert.x

              --host HOST  address to listen on (default 127.0.0.1)
              --port N     TCP port (default 3032)
              --threads N  event loops, one verticle each (default: the processors of this machine)
              --tls-cert FILE  serve TLS: PEM file with the certificate
              --tls-key FILE   PEM file with the key of that certificate (PKCS #8)
              --deflate    compress for clients that offer it
              --raw-echo   send every message back as it came, for Autobahn|Testsuite
              --node-ports PORT,PORT...  be one of several nodes: the ports of all
              --version    print the versions of the libraries and exit
              --help       print this text and exit
            """;

    /** @throws IllegalArgumentException with a message for the user: an unknown flag or an unfit value */
    static Options parse(String[] args) {
        String host = "127.0.0.1";
        int port = 3032;
        int threads = Runtime.getRuntime().availableProcessors();
        String tlsCert = null;
        String tlsKey = null;
        boolean deflate = false;
        boolean rawEcho = false;
        List<Integer> nodePorts = List.of();
        boolean version = false;
        boolean help = false;
        for (int i = 0; i < args.length; i++) {
            switch (args[i]) {
                case "--host" -> host = value(args, i++);
                case "--port" -> port = number(args, i++, 65535);
                case "--threads" -> threads = number(args, i++, 1024);
                case "--tls-cert" -> tlsCert = value(args, i++);
                case "--tls-key" -> tlsKey = value(args, i++);
                case "--deflate" -> deflate = true;
                case "--raw-echo" -> rawEcho = true;
                case "--node-ports" -> nodePorts = numbers(args, i++);
                case "--version" -> version = true;
                case "--help" -> help = true;
                default -> throw new IllegalArgumentException("unknown argument \"" + args[i] + "\"");
            }
        }
        if ((tlsCert == null) != (tlsKey == null)) {
            throw new IllegalArgumentException("--tls-cert and --tls-key belong together: give both");
        }
        return new Options(host, port, threads, tlsCert, tlsKey, deflate, rawEcho, nodePorts, version, help);
    }

    private static String value(String[] args, int flag) {
        if (flag + 1 == args.length) {
            throw new IllegalArgumentException(args[flag] + " needs a value");
        }
        return args[flag + 1];
    }

    private static List<Integer> numbers(String[] args, int flag) {
        List<Integer> numbers = new ArrayList<>();
        for (String text : value(args, flag).split(",")) {
            numbers.add(number(args[flag], text, 65535));
        }
        return List.copyOf(numbers);
    }

    private static int number(String[] args, int flag, int highest) {
        return number(args[flag], value(args, flag), highest);
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
