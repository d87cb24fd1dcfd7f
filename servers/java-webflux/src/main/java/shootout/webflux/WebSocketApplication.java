package shootout.webflux;

import io.netty.channel.ChannelOption;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.reactor.netty.NettyServerCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.reactive.config.WebFluxConfigurer;
import org.springframework.web.reactive.handler.SimpleUrlHandlerMapping;
import org.springframework.web.reactive.socket.WebSocketHandler;
import org.springframework.web.reactive.socket.server.WebSocketService;

import java.util.Map;

/** Maps every path to the one handler. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
class WebSocketApplication implements WebFluxConfigurer {

    /** The kernel lowers it to net.core.somaxconn. */
    private static final int BACKLOG = 4096;

    @Bean
    HandlerMapping mapping(Options options) {
        Handler handler = options.rawEcho() ? new RawEcho() : new Protocol();
        return new SimpleUrlHandlerMapping(Map.of("/**", (WebSocketHandler) new Connections(handler)), -1);
    }

    @Override
    public WebSocketService getWebSocketService() {
        return new JoiningService();
    }

    @Bean
    NettyServerCustomizer backlog() {
        return server -> server.option(ChannelOption.SO_BACKLOG, BACKLOG);
    }
}
