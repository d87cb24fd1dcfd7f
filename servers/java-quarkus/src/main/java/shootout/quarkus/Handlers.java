package shootout.quarkus;

import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/** Chooses the handler of all connections. */
final class Handlers {

    @Produces
    @Singleton
    Handler handler(@ConfigProperty(name = "shootout.raw-echo", defaultValue = "false") boolean rawEcho) {
        return rawEcho ? new RawEcho() : new Protocol();
    }
}
