package shootout.quarkus;

import io.quarkus.websockets.next.HttpUpgradeCheck;
import io.smallrye.mutiny.Uni;
import io.vertx.core.http.HttpServerRequest;
import jakarta.inject.Singleton;

/**
 * Adds a client before its handshake is answered: no broadcast sent after that passes it by. The
 * library tells the endpoint of the open connection when the answer is on its way already.
 */
@Singleton
final class JoiningCheck implements HttpUpgradeCheck {

    private final Handler handler;

    JoiningCheck(Handler handler) {
        this.handler = handler;
    }

    @Override
    public Uni<CheckResult> perform(HttpUpgradeContext context) {
        Client client = new Client();
        context.userData().put(Client.KEY, client);
        handler.join(client);
        HttpServerRequest request = context.httpRequest();
        request.connection().closeHandler(closed -> handler.leave(client));
        // No endpoint learns of a handshake that is refused from here on; others may follow on the connection.
        request.response().endHandler(refused -> handler.leave(client));
        return CheckResult.permitUpgrade();
    }
}
