package shootout.boot;

import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SyncTaskExecutor;
import org.springframework.messaging.simp.config.AbstractMessageBrokerConfiguration;
import org.springframework.messaging.simp.config.ChannelRegistration;
import org.springframework.messaging.simp.config.MessageBrokerRegistry;
import org.springframework.messaging.simp.user.SimpUserRegistry;
import org.springframework.web.socket.messaging.DefaultSimpUserRegistry;

/**
 * Spring's relay to a STOMP broker, between the channels from and to clients. {@code @EnableWebSocketMessageBroker}
 * is the same with clients that speak STOMP.
 */
@Configuration(proxyBeanMethods = false)
class RelayConfiguration extends AbstractMessageBrokerConfiguration {

    private final Options.Broker broker;

    RelayConfiguration(Options options) {
        this.broker = options.broker();
    }

    @Override
    protected void configureMessageBroker(MessageBrokerRegistry registry) {
        registry.enableStompBrokerRelay(Member.TOPICS).setRelayHost(broker.host()).setRelayPort(broker.port());
        registry.setPreservePublishOrder(true);
        registry.setApplicationDestinationPrefixes("/app");
    }

    /** The thread that has a client's message passes it on: several would change the order. */
    @Override
    protected void configureClientInboundChannel(ChannelRegistration registration) {
        registration.executor(new SyncTaskExecutor());
    }

    @Override
    protected SimpUserRegistry createLocalUserRegistry(Integer order) {
        return new DefaultSimpUserRegistry();
    }
}
