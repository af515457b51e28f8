import { toJson } from '../terminal/harmless.ts'
import { type ExitCode, exitCode } from './failure.ts'
import { givenTo } from './list.ts'
import { type CommonOptions, openSignedIn, type Session, type World } from './session.ts'

type Text<Reply> = (
  reply: Reply,
  session: Session,
  ...operands: string[]
) => string | readonly string[]

type Asking<Reply, Options> = {
  /** Returns what `--json` prints. */
  send: (session: Session, options: Options, ...operands: string[]) => Promise<Reply>
  /** The result, on stdout. */
  data?: Text<Reply>
  /** A confirmation, on stderr. */
  note?: Text<Reply>
}

/** A command that sends a request and reports the response. */
export const request =
  <Reply, Options extends CommonOptions = CommonOptions>({
    send,
    data = () => [],
    note = () => [],
  }: Asking<Reply, Options>) =>
  async (world: World, ...given: unknown[]): Promise<ExitCode> => {
    const { operands, options } = givenTo<Options>(given)
    const session = await openSignedIn(world, options)
    const { terminal, isJson } = session
    const reply = await send(session, options, ...operands)
    if (isJson) terminal.data(toJson(reply))
    else {
      for (const line of [data(reply, session, ...operands)].flat()) terminal.data(line)
      for (const line of [note(reply, session, ...operands)].flat()) terminal.note(line)
    }
    return exitCode.ok
  }
