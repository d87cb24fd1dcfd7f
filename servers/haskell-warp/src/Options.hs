{-# LANGUAGE CPP #-}

-- | The command line.
module Options (Options (..), Mode (..), program, readOptions) where

import System.Console.GetOpt
import System.Environment (getArgs)
import System.Exit (ExitCode (..), exitSuccess, exitWith)
import System.IO (hPutStrLn, stderr)
import Text.Read (readMaybe)

data Mode = Chan | NoChan

data Options = Options
    { address :: String
    , port :: Int
    , threads :: Maybe Int
      -- ^ Cores to use; all when there is none.
    , mode :: Mode
    , rawEcho :: Bool
    }

data Flag = Set (Options -> Either String Options) | Help | Version

program :: String
program = "haskell-warp-ws-server"

-- | Ends the program for --help, --version and usage errors (exit code 2).
readOptions :: IO Options
readOptions = do
    arguments <- getArgs
    case getOpt Permute flags arguments of
        (_, _, problem : _) -> usageError problem
        (_, unexpected : _, _) -> usageError ("unexpected argument '" <> unexpected <> "'")
        (given, _, _)
            | or [True | Help <- given] -> putStr (usageInfo ("usage: " <> program) flags) >> exitSuccess
            | or [True | Version <- given] -> putStrLn versions >> exitSuccess
            | otherwise -> either usageError pure (foldl (>>=) (Right defaults) [set | Set set <- given])
  where
    defaults = Options
        { address = "127.0.0.1", port = 3000, threads = Nothing, mode = Chan, rawEcho = False }
    versions = "websockets " <> VERSION_websockets <> ", warp " <> VERSION_warp

usageError :: String -> IO a
usageError problem = do
    hPutStrLn stderr (program <> ": " <> unwords (lines problem) <> "; see --help")
    exitWith (ExitFailure 2)

flags :: [OptDescr Flag]
flags =
    [ Option "" ["host", "address"] (ReqArg (Set . setAddress) "HOST") "address to listen on (127.0.0.1)"
    , Option "p" ["port"] (number "port" 0 65535 setPort) "TCP port to listen on (3000)"
    , Option "" ["threads"] (number "threads" 1 256 setThreads) "cores to use (all)"
    , Option "" ["mode"] (ReqArg (Set . setMode) "MODE")
        "chan: broadcasts through one channel (the default); no-chan: a loop over the clients"
    , Option "" ["raw-echo"] (NoArg (Set (\options -> Right options { rawEcho = True })))
        "send every message back as it came"
    , Option "" ["version"] (NoArg Version) "print the versions of websockets and warp and exit"
    , Option "" ["help"] (NoArg Help) "print this and exit"
    ]
  where
    setAddress text options = Right options { address = text }
    setPort value options = options { port = value }
    setThreads value options = options { threads = Just value }
    setMode "chan" options = Right options { mode = Chan }
    setMode "no-chan" options = Right options { mode = NoChan }
    setMode other _ = Left ("--mode " <> other <> ": give chan or no-chan")

number :: String -> Int -> Int -> (Int -> Options -> Options) -> ArgDescr Flag
number name least most set = ReqArg (\text -> Set (\options -> (`set` options) <$> parse text)) "N"
  where
    parse text = case readMaybe text of
        Just value | least <= value, value <= most -> Right value
        _ -> Left ("--" <> name <> " " <> text <> ": give an integer from "
            <> show least <> " to " <> show most)
