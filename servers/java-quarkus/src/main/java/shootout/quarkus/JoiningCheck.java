package shootout.quarkus;

import io.quarkus.websockets.next.HttpUpgradeCheck;
import io.smallrye.mutiny.Uni;
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
        // Also the end of a handshake that is refused afterwards, of which no endpoint learns.
        context.httpRequest().connection().closeHandler(closed -> handler.leave(client));
        return CheckResult.permitUpgrade();
    }
}
