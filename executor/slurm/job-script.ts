import { fileURLToPath } from 'node:url'

const rankProgram = fileURLToPath(new URL('rank.ts', import.meta.url))

/** A small heap: it holds only a few records. */
const flags = [
  '--max-old-space-size=32',
  '--max-semi-space-size=1',
  '--disable-warning=ExperimentalWarning',
]

/** Below the ports of outgoing connections, and different for all jobs of a machine. */
const masterPort = '$((20000 + SLURM_JOB_ID % 12000))'

/**
 * The script of an attempt's job. Slurm keeps it and shows it to its administrators, so it names only the folder of the attempt. With several
 * nodes each gets one rank; if the program of a rank vanishes, Slurm ends the others.
 */
export function jobScript(directory: string, turn: number, nodes: number): string {
  const program = [process.execPath, ...flags, rankProgram, directory, String(turn)]
    .map(quoted)
    .join(' ')
  const start =
    nodes === 1
      ? `exec ${program}`
      : `export MASTER_PORT=${masterPort}\nexec srun --nodes=${nodes} --ntasks=${nodes} --ntasks-per-node=1 --kill-on-bad-exit=1 --mpi=none --input=none ${program}`
  return `#!/bin/sh\n${start}\n`
}

const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`
