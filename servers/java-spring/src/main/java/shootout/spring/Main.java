package shootout.spring;

import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootVersion;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.SpringVersion;

import java.util.Map;

/** Starts the server of docs/protocol.md on Spring; it runs until a signal ends the process. */
public final class Main {

    /** The kernel lowers it to net.core.somaxconn. */
    private static final int BACKLOG = 4096;

    private Main() {}

    public static void main(String[] args) {
        try {
            Options options = Options.parse(args);
            if (options.help()) {
                System.out.print(Options.HELP);
            } else if (options.version()) {
                System.out.println("Spring " + SpringVersion.getVersion() + ", Spring Boot "
                        + SpringBootVersion.getVersion() + ", Java " + Runtime.version());
            } else {
                listen(options);
            }
        } catch (IllegalArgumentException wrong) {
            fail(2, wrong.getMessage() + " (see --help)");
        }
    }

    private static void listen(Options options) {
        SpringApplication application = new SpringApplication(WebSocketApplication.class);
        application.setBannerMode(Banner.Mode.OFF);
        application.addInitializers(context ->
                context.getBeanFactory().registerSingleton("options", options));
        application.setDefaultProperties(Map.of(
                "server.address", options.host(),
                "server.port", options.port(),
                "server.tomcat.max-connections", -1,
                "server.tomcat.accept-count", BACKLOG,
                "spring.threads.virtual.enabled", options.virtualThreads(),
                "logging.level.root", "off"));
        try {
            application.run();
        } catch (RuntimeException refused) {
            fail(1, "cannot listen on " + options.host() + " port " + options.port() + ": "
                    + NestedExceptionUtils.getMostSpecificCause(refused).getMessage());
        }
    }

    private static void fail(int status, String message) {
        System.err.println("java-spring-server: " + message);
        System.exit(status);
    }
}
