package shootout.undertow;

import com.fasterxml.jackson.databind.cfg.PackageVersion;
import io.undertow.Undertow;
import io.undertow.Version;
import io.undertow.server.HttpHandler;
import io.undertow.websockets.WebSocketConnectionCallback;
import io.undertow.websockets.WebSocketProtocolHandshakeHandler;
import io.undertow.websockets.core.protocol.version13.Hybi13Handshake;
import io.undertow.websockets.extensions.PerMessageDeflateHandshake;
import org.xnio.Options;

import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Starts the server of docs/protocol.md on Undertow; it runs until a signal ends the process. */
public final class Main {

    /** The kernel lowers it to net.core.somaxconn. */
    private static final int BACKLOG = 4096;

    /** A message may inflate at once, and the library enlarges a full buffer before it finds the end. */
    private static final int INFLATED = MessageListener.LARGEST_MESSAGE + 1;

    private Main() {}

    public static void main(String[] args) {
        try {
            CommandLine line = CommandLine.parse(args);
            if (line.help()) {
                System.out.print(CommandLine.HELP);
            } else if (line.version()) {
                System.out.println("Undertow " + Version.getVersionString()
                        + ", Jackson " + PackageVersion.VERSION + ", Java " + Runtime.version());
            } else {
                listen(line);
            }
        } catch (IllegalArgumentException wrong) {
            fail(2, wrong.getMessage() + " (see --help)");
        }
    }

    private static void listen(CommandLine line) {
        Logger.getLogger("").setLevel(Level.WARNING);
        Hub hub = new Hub();
        WebSocketConnectionCallback connected = (exchange, channel) -> {
            Client client = new Client(channel);
            channel.getReceiveSetter().set(
                    line.rawEcho() ? new RawEchoListener(client) : new ProtocolListener(client, hub));
            hub.join(client);
            channel.resumeReceives();
        };
        // Hybi13 alone is RFC 6455; by default the drafts 7 and 8 are spoken too.
        Hybi13Handshake handshake = new Hybi13Handshake();
        if (line.deflate()) {
            handshake.addExtension(new PerMessageDeflateHandshake(
                    false, PerMessageDeflateHandshake.DEFAULT_DEFLATER, true, true, INFLATED));
        }
        HttpHandler websocket = new WebSocketProtocolHandshakeHandler(List.of(handshake), connected);
        Undertow server = Undertow.builder()
                .addHttpListener(line.port(), line.host())
                .setIoThreads(line.threads())
                .setWorkerThreads(1) // every handler runs on an I/O thread
                .setSocketOption(Options.BACKLOG, BACKLOG)
                .setHandler(exchange -> {
                    hub.prepare(exchange.getIoThread());
                    websocket.handleRequest(exchange);
                })
                .build();
        try {
            server.start();
        } catch (RuntimeException refused) {
            Throwable cause = refused.getCause() == null ? refused : refused.getCause();
            fail(1, "cannot listen on " + line.host() + " port " + line.port() + ": " + cause.getMessage());
        }
    }

    private static void fail(int status, String message) {
        System.err.println("java-undertow-server: " + message);
        System.exit(status);
    }
}
