package shootout.vertx;

import com.hazelcast.config.Config;
import com.hazelcast.config.NetworkConfig;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.EventBus;
import io.vertx.core.eventbus.EventBusOptions;
import io.vertx.core.eventbus.MessageProducer;
import io.vertx.spi.cluster.hazelcast.ConfigUtil;
import io.vertx.spi.cluster.hazelcast.HazelcastClusterManager;

import java.util.UUID;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * What makes several nodes of this server one: the clustered event bus, with Hazelcast as its cluster
 * manager. Each node has a consumer at one address, and passes what comes there to its own clients.
 */
final class Nodes {

    private static final String ADDRESS = "nodes";
    private static final String ORIGIN = "origin";

    // shootout gives servers ports from 20,000 to 29,999; from 32,768 on Linux takes those of clients, of
    // which a load has thousands. So far below it is in neither range.
    private static final int DISTANCE = 16000;
    private static final int LOWEST = 1024;

    // It writes a page on stderr when a member joins. Kept here, since the log manager itself would
    // forget the level.
    private static final Logger HAZELCAST = Logger.getLogger("com.hazelcast");

    private final String name = UUID.randomUUID().toString();
    private final EventBus bus;
    private final MessageProducer<Object> others;

    Nodes(EventBus bus) {
        this.bus = bus;
        others = bus.publisher(ADDRESS, new DeliveryOptions().addHeader(ORIGIN, name));
    }

    /** Completes when this node is a member of the cluster. */
    static Future<Vertx> join(VertxOptions vertx, Options options) {
        HAZELCAST.setLevel(Level.SEVERE);
        vertx.setEventBusOptions(new EventBusOptions().setHost(options.host()));
        return Vertx.builder()
                .with(vertx)
                .withClusterManager(new HazelcastClusterManager(hazelcast(options)))
                .buildClustered();
    }

    private static Config hazelcast(Options options) {
        Config config = ConfigUtil.loadConfig()
                .setClusterName("java-vertx-" + options.nodePorts().get(0))
                .setProperty("hazelcast.phone.home.enabled", "false")
                // It would listen on all interfaces.
                .setProperty("hazelcast.socket.bind.any", "false");
        NetworkConfig network = config.getNetworkConfig()
                .setPort(memberPort(options.port()))
                .setPortAutoIncrement(false);
        network.getInterfaces().setEnabled(true).addInterface(options.host());
        network.getJoin().getAutoDetectionConfig().setEnabled(false);
        network.getJoin().getMulticastConfig().setEnabled(false);
        network.getJoin().getTcpIpConfig().setEnabled(true);
        for (int port : options.nodePorts()) {
            network.getJoin().getTcpIpConfig().addMember(options.host() + ":" + memberPort(port));
        }
        return config;
    }

    /** The port of the member of Hazelcast in the server with that port. */
    private static int memberPort(int port) {
        return port - DISTANCE >= LOWEST ? port - DISTANCE : port + DISTANCE;
    }

    /** Completes when the other nodes can find this one. */
    Future<Void> listen(Hub hub) {
        return bus.consumer(ADDRESS, message -> {
            if (!name.equals(message.headers().get(ORIGIN))) {
                if (message.body() instanceof Buffer binary) {
                    hub.deliver(client -> client.send(binary));
                } else {
                    hub.deliver(client -> client.send((String) message.body()));
                }
            }
        }).completion();
    }

    /** Completes when the library has written the message to the first of all nodes, often this one. */
    Future<Void> share(Object message) {
        return others.write(message);
    }
}
