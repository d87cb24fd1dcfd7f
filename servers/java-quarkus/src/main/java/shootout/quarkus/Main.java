package shootout.quarkus;

import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.annotations.QuarkusMain;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;

/** Starts the server of docs/protocol.md on Quarkus; it runs until a signal ends the process. */
@QuarkusMain
public final class Main {

    private Main() {}

    public static void main(String[] args) {
        try {
            Options options = Options.parse(args);
            if (options.help()) {
                System.out.print(Options.HELP);
            } else if (options.version()) {
                System.out.println("Quarkus " + version() + ", Java " + Runtime.version());
            } else {
                listen(options);
            }
        } catch (IllegalArgumentException wrong) {
            fail(2, wrong.getMessage() + " (see --help)");
        }
    }

    private static void listen(Options options) {
        System.setProperty("quarkus.http.host", options.host());
        System.setProperty("quarkus.http.port", Integer.toString(options.port()));
        System.setProperty("quarkus.http.io-threads", Integer.toString(options.threads()));
        System.setProperty("quarkus.vertx.event-loops-pool-size", Integer.toString(options.threads()));
        System.setProperty("shootout.raw-echo", Boolean.toString(options.rawEcho()));
        Quarkus.run(null, (status, failure) -> {
            if (failure != null) {
                fail(1, "cannot listen on " + options.host() + " port " + options.port() + ": " + cause(failure));
            }
        });
    }

    private static String cause(Throwable failure) {
        Throwable first = failure;
        while (first.getCause() != null) {
            first = first.getCause();
        }
        return first.getMessage();
    }

    /** What Maven wrote into the jar of the library, which the jar of this server holds. */
    private static String version() {
        Properties library = new Properties();
        try (InputStream file = Main.class.getResourceAsStream(
                "/META-INF/maven/io.quarkus/quarkus-websockets-next/pom.properties")) {
            library.load(file);
        } catch (IOException unreadable) {
            throw new IllegalStateException(unreadable);
        }
        return library.getProperty("version");
    }

    private static void fail(int status, String message) {
        System.err.println("java-quarkus-server: " + message);
        System.exit(status);
    }
}
