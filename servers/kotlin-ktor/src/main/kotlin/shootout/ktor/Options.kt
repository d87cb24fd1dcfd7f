package shootout.ktor

/** The command line of the server. */
data class Options(
    val host: String = "127.0.0.1",
    val port: Int = 3035,
    val threads: Int = Runtime.getRuntime().availableProcessors(),
    val rawEcho: Boolean = false,
    val version: Boolean = false,
    val help: Boolean = false,
) {
    companion object {
        val HELP = """
            kotlin-ktor-server: the websocket-shootout protocol on Ktor

              --host HOST  address to listen on (default 127.0.0.1)
              --port N     TCP port (default 3035)
              --threads N  event loops (default: the processors of this machine)
              --raw-echo   send every message back as it came, for Autobahn|Testsuite
              --version    print the versions of the libraries and exit
              --help       print this text and exit
        """.trimIndent()

        /** Throws an [IllegalArgumentException] with a message for the user. */
        fun parse(args: Array<String>): Options {
            val rest = args.iterator()
            var options = Options()
            while (rest.hasNext()) {
                options = when (val flag = rest.next()) {
                    "--host" -> options.copy(host = value(flag, rest))
                    "--port" -> options.copy(port = number(flag, rest, 65535))
                    "--threads" -> options.copy(threads = number(flag, rest, 1024))
                    "--raw-echo" -> options.copy(rawEcho = true)
                    "--version" -> options.copy(version = true)
                    "--help" -> options.copy(help = true)
                    else -> throw IllegalArgumentException("unknown argument \"$flag\"")
                }
            }
            return options
        }

        private fun value(flag: String, rest: Iterator<String>): String {
            require(rest.hasNext()) { "$flag needs a value" }
            return rest.next()
        }

        private fun number(flag: String, rest: Iterator<String>, highest: Int): Int {
            val text = value(flag, rest)
            val number = text.toIntOrNull()
            require(number != null && number in 1..highest) {
                "$flag: \"$text\" is not a number from 1 to $highest"
            }
            return number
        }
    }
}
