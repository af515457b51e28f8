import type { Static } from 'typebox'
import type { volumeDetail, volumeSnapshotStarted } from '../../../schemas/volumes.ts'
import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode } from '../program/failure.ts'
import { pause } from '../program/pause.ts'
import {
  type CommonOptions,
  type Flags,
  openSignedIn,
  type Session,
  type Texts,
  type World,
} from '../program/session.ts'
import { toJson } from '../terminal/harmless.ts'
import { oneVolume, pathOfVolume } from './named.ts'

type Started = Static<typeof volumeSnapshotStarted>
type Detail = Static<typeof volumeDetail>

export const describeVolumeSnapshot = describe({
  text: 'make files of a volume the next version of a dataset',
  operands: { ...oneVolume, '<dataset>': 'OWNER/NAME' },
  options: {
    '--path <path>': 'a file or folder; the whole volume if absent',
    '--wait': 'until the version is there, or the snapshot has failed (exit code 1)',
  },
})

export async function volumeSnapshot(
  world: World,
  named: string,
  dataset: string,
  { path, wait, ...options }: CommonOptions & Texts<'path'> & Flags<'wait'>,
): Promise<ExitCode> {
  const session = await openSignedIn(world, options)
  const { api, terminal, isJson } = session
  const at = await pathOfVolume(api, named)
  const body = { dataset, ...(path !== undefined && { path }) }
  const started = await api.post<Started>(`${at}/snapshots`, body, { creates: true })
  if (wait) return untilEnded(session, at, started)
  terminal.data(isJson ? toJson(started) : `${started.snapshot_id}  ${started.dataset}`)
  return exitCode.ok
}

const everyMs = 500

/** However long it takes; Ctrl-C ends the waiting, not the snapshot. */
async function untilEnded(
  { api, terminal, isJson }: Session,
  at: string,
  { snapshot_id }: Started,
): Promise<ExitCode> {
  for (;;) {
    const { snapshots } = await api.get<Detail>(at)
    const found = snapshots.find(one => one.snapshot_id === snapshot_id)
    if (found && found.state !== 'running') {
      terminal.data(isJson ? toJson(found) : `${found.state}  ${found.ref ?? found.error}`)
      return found.state === 'ready' ? exitCode.ok : exitCode.faulty
    }
    await pause(everyMs, new AbortController().signal)
  }
}
