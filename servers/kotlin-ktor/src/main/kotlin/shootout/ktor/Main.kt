package shootout.ktor

import com.fasterxml.jackson.databind.cfg.PackageVersion
import io.ktor.http.HttpHeaders
import io.ktor.http.HttpStatusCode
import io.ktor.server.application.ApplicationCallPipeline
import io.ktor.server.application.PipelineCall
import io.ktor.server.application.call
import io.ktor.server.application.install
import io.ktor.server.engine.connector
import io.ktor.server.engine.embeddedServer
import io.ktor.server.netty.Netty
import io.ktor.server.response.header
import io.ktor.server.response.respond
import io.ktor.server.routing.routing
import io.ktor.server.websocket.WebSockets
import io.ktor.server.websocket.webSocketRaw
import io.ktor.util.AttributeKey
import io.ktor.util.pipeline.PipelineContext
import io.netty.channel.ChannelOption
import java.util.Properties
import kotlin.system.exitProcess

/** The kernel lowers it to net.core.somaxconn. */
private const val BACKLOG = 4096

private val CLIENT = AttributeKey<Client>("client")

/** Starts the server of docs/protocol.md on Ktor; it runs until a signal ends the process. */
fun main(args: Array<String>) {
    val options = try {
        Options.parse(args)
    } catch (wrong: IllegalArgumentException) {
        fail(2, "${wrong.message} (see --help)")
    }
    when {
        options.help -> println(Options.HELP)
        options.version -> println(
            "Ktor ${ktorVersion()}, Jackson ${PackageVersion.VERSION}, " +
                "Kotlin ${KotlinVersion.CURRENT}, Java ${Runtime.version()}",
        )
        else -> listen(options)
    }
}

private fun listen(options: Options) {
    val hub = Hub()
    val server = embeddedServer(Netty, configure = {
        connector {
            host = options.host
            port = options.port
        }
        connectionGroupSize = 1
        workerGroupSize = options.threads
        callGroupSize = options.threads
        configureBootstrap = { option(ChannelOption.SO_BACKLOG, BACKLOG) }
    }) {
        install(WebSockets) {
            maxFrameSize = LARGEST_MESSAGE.toLong()
            // What waits is counted by Client; Ktor's own channels would be without bounds.
            channels {
                incoming = bounded(1)
                outgoing = bounded(1)
            }
        }
        intercept(ApplicationCallPipeline.Plugins) { join(hub) }
        routing {
            webSocketRaw("{...}") {
                val client = call.attributes[CLIENT]
                client.open(this)
                if (options.rawEcho) rawEcho(client) else serve(client, hub)
            }
        }
    }
    try {
        server.start(wait = true)
    } catch (refused: Exception) {
        fail(1, "cannot listen on ${options.host} port ${options.port}: ${refused.message}")
    }
}

/**
 * A client joins before its handshake is answered: no broadcast sent after that passes it by. The rest of
 * the pipeline ends when the connection has ended.
 */
private suspend fun PipelineContext<Unit, PipelineCall>.join(hub: Hub) {
    val headers = call.request.headers
    if (headers[HttpHeaders.SecWebSocketVersion] != "13") {
        call.response.header(HttpHeaders.SecWebSocketVersion, "13")
        return call.respond(HttpStatusCode.UpgradeRequired)
    }
    if (headers[HttpHeaders.SecWebSocketKey] == null) {
        return call.respond(HttpStatusCode.BadRequest)
    }
    val client = Client()
    call.attributes.put(CLIENT, client)
    hub.join(client)
    try {
        proceed()
    } finally {
        hub.leave(client)
    }
}

private fun ktorVersion(): String {
    val versions = Properties()
    Options::class.java.getResourceAsStream("/versions.properties").use(versions::load)
    return versions.getProperty("ktor")
}

private fun fail(status: Int, message: String): Nothing {
    System.err.println("kotlin-ktor-server: $message")
    exitProcess(status)
}
