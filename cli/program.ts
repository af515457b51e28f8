import { Command, Option } from 'commander'
import {
  describeProjections,
  describeRebuild,
  describeRotateKeys,
  projections,
  rebuild,
  rotateKeys,
} from './commands/admin.ts'
import { describeLogin, login } from './commands/login.ts'
import { describeLogs, logs } from './commands/logs.ts'
import { describeMetrics, metrics } from './commands/metrics.ts'
import { describePs, ps } from './commands/ps.ts'
import { describeRun, run } from './commands/run.ts'
import { describeServe, serve } from './commands/serve.ts'
import { describeStop, stop } from './commands/stop.ts'
import { describeSubmit, submit } from './commands/submit.ts'
import { describeWatch, watch } from './commands/watch.ts'
import { describeWhoami, whoami } from './commands/whoami.ts'
import type { World } from './session.ts'
import { version } from './version.ts'

/** All commands. `ended` is told the exit code of the one that ran. */
export function createProgram(world: World, ended: (code: number) => void): Command {
  const program = new Command('forge')
    .description('Train models on your own machines: submit, watch, stop.')
    .version(version)
    // Options after a command belong to it: forge run CMD --flag
    .enablePositionalOptions()
    .showHelpAfterError('(forge --help lists the commands)')
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', epilogue)
    .exitOverride()
  const speaking = (name: string, describe: (command: Command) => Command, parent = program) =>
    describe(parent.command(name))
      .addOption(new Option('--host <url>', 'the server; FORGE_HOST, or where you signed in last'))
      .option('--json', 'print JSON, one object a line where there are many')

  speaking('login', describeLogin).action(async options => ended(await login(world, options)))
  speaking('whoami', describeWhoami).action(async options => ended(await whoami(world, options)))
  speaking('submit', describeSubmit).action(async options => ended(await submit(world, options)))
  speaking('ps', describePs).action(async options => ended(await ps(world, options)))
  speaking('watch', describeWatch).action(async (id, options) =>
    ended(await watch(world, id, options)),
  )
  speaking('logs', describeLogs).action(async (id, options) =>
    ended(await logs(world, id, options)),
  )
  speaking('metrics', describeMetrics).action(async (id, options) =>
    ended(await metrics(world, id, options)),
  )
  speaking('stop', describeStop).action(async (id, options) =>
    ended(await stop(world, id, options)),
  )
  speaking('run', describeRun).action(async (words, options) =>
    ended(await run(world, words, options)),
  )
  describeServe(program.command('serve')).action(async options => ended(await serve(options)))

  const admin = program.command('admin').description('look after the server')
  speaking('projections', describeProjections, admin).action(async options =>
    ended(await projections(world, options)),
  )
  speaking('rebuild', describeRebuild, admin).action(async (name, options) =>
    ended(await rebuild(world, name, options)),
  )
  speaking('rotate-keys', describeRotateKeys, admin).action(async options =>
    ended(await rotateKeys(world, options)),
  )
  return program
}

const epilogue = `
Exit codes: 0 ok, 1 the job failed, 2 usage, 3 refused, 4 not signed in or not allowed, 5 conflict,
6 the server is unavailable, 130 interrupted.
FORGE_HOST and FORGE_TOKEN go before what forge login stored. NO_COLOR turns colours off.`
