package shootout.vertx;

import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.internal.VertxInternal;

import java.util.Objects;

/** Starts the server of docs/protocol.md on Vert.x; it runs until a signal ends the process. */
public final class Main {

    private Main() {}

    public static void main(String[] args) {
        try {
            Options options = Options.parse(args);
            if (options.help()) {
                System.out.print(Options.HELP);
            } else if (options.version()) {
                System.out.println("Vert.x " + VertxInternal.version() + ", Java " + Runtime.version());
            } else {
                listen(options);
            }
        } catch (IllegalArgumentException wrong) {
            fail(2, wrong.getMessage() + " (see --help)");
        }
    }

    private static void listen(Options options) {
        VertxOptions settings = new VertxOptions()
                .setEventLoopPoolSize(options.threads())
                .setPreferNativeTransport(true)
                .setFileSystemOptions(new FileSystemOptions()
                        .setClassPathResolvingEnabled(false)
                        .setFileCachingEnabled(false));
        Future<?> listening = options.nodePorts().isEmpty()
                ? serve(Vertx.vertx(settings), null, options)
                : Nodes.join(settings, options)
                        .compose(vertx -> serve(vertx, new Nodes(vertx.eventBus()), options));
        listening.onFailure(cause -> fail(1, "cannot listen on " + options.host() + " port " + options.port() + ": "
                + Objects.requireNonNullElse(cause.getMessage(), cause.getClass().getSimpleName())));
    }

    private static Future<?> serve(Vertx vertx, Nodes nodes, Options options) {
        Hub hub = new Hub(vertx.eventBus(), nodes);
        return hub.listen().compose(ready -> vertx.deployVerticle(
                () -> new WebSocketVerticle(options, hub),
                new DeploymentOptions().setInstances(options.threads())));
    }

    private static void fail(int status, String message) {
        System.err.println("java-vertx-server: " + message);
        System.exit(status);
    }
}
