import { processes } from './processes.ts'

/** Ends the remaining processes of attempts whose folders are under `runs`: they outlive their server on purpose, but not its test. */
export async function endAttempts(runs: string): Promise<void> {
  const folder = `${runs}/`
  for (const { pid, commandLine, directory } of await processes())
    if (commandLine.includes(folder) || directory.startsWith(folder)) end(pid)
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
