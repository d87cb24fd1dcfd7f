package shootout.spring;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.web.socket.config.annotation.EnableWebSocket;
import org.springframework.web.socket.config.annotation.WebSocketConfigurer;
import org.springframework.web.socket.config.annotation.WebSocketHandlerRegistry;

/** Maps every path to the one handler. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@EnableWebSocket
class WebSocketApplication implements WebSocketConfigurer {

    private final Options options;

    WebSocketApplication(Options options) {
        this.options = options;
    }

    @Override
    public void registerWebSocketHandlers(WebSocketHandlerRegistry registry) {
        Handler handler = options.rawEcho() ? new RawEcho() : new Protocol();
        registry.addHandler(handler, "/**")
                .setHandshakeHandler(new JoiningHandshake(handler))
                .setAllowedOrigins("*");
    }
}
