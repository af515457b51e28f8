import type { Pool, PoolClient } from 'pg'
import { pause } from '../pause.ts'

/**
 * PostgreSQL's low-level backup (manual, "Making a Base Backup Using the Low Level API"), without an archive: a
 * temporary replication slot of the same session keeps the WAL from being removed until it is copied. The session must
 * stay open; if it ends, PostgreSQL ends the backup and drops the slot.
 */
export type RunningBackup = {
  /** Ends the copying of files; returns what belongs into the copy. */
  stop(): Promise<BackupEnd>
}

export type BackupEnd = {
  /** The contents of `backup_label`, without which the copy would start from the wrong checkpoint. */
  label: string
  /** The contents of `tablespace_map`; empty without tablespaces. */
  tablespaceMap: string
  wal: WalRange
}

/** Positions in the WAL are bigints; `end` is exclusive. */
export type WalRange = { timeline: number; segmentBytes: bigint; start: bigint; end: bigint }

/** Needs a superuser, or the attributes and grants that the manual lists. Waits for a checkpoint. */
export async function startBackup(session: PoolClient, name: string): Promise<RunningBackup> {
  await session.query('select pg_create_physical_replication_slot($1, true, true)', [name])
  const { rows } = await session.query<{ start: string }>(
    'select pg_backup_start($1, true)::text as start',
    [name],
  )
  const start = toPosition(rows[0]?.start)
  return {
    async stop() {
      const { rows } = await session.query<{ end: string; label: string; map: string }>(
        'select lsn::text as end, labelfile as label, spcmapfile as map from pg_backup_stop(false)',
      )
      const { rows: about } = await session.query<{ timeline: number; bytes: string }>(
        `select timeline_id as timeline,
                (select setting from pg_settings where name = 'wal_segment_size') as bytes
           from pg_control_checkpoint()`,
      )
      const [stopped, { timeline = 0, bytes = '0' } = {}] = [rows[0], about[0]]
      if (!stopped) throw new Error('pg_backup_stop returned nothing')
      return {
        label: stopped.label,
        tablespaceMap: stopped.map,
        wal: { timeline, segmentBytes: BigInt(bytes), start, end: toPosition(stopped.end) },
      }
    },
  }
}

/** How long to look for an instant without transactions, and how often, in milliseconds. */
const quietWithinMs = 15_000
const lookEveryMs = 3

/**
 * Finds a position in the WAL, and opens a transaction in `session` that sees exactly what a recovery up to there
 * restores. Null if there was always a transaction under way; then none is open.
 */
export async function openAtPosition(
  session: PoolClient,
  signal: AbortSignal,
): Promise<bigint | null> {
  const deadline = performance.now() + quietWithinMs
  while (performance.now() < deadline && !signal.aborted) {
    const position = await openIfQuiet(session)
    if (position !== null) return position
    await session.query('rollback')
    await pause(lookEveryMs, signal)
  }
  return null
}

/**
 * The order matters. A commit before the first position has either left the list of transactions by the second
 * statement, and the snapshot sees it, or is found there. A transaction that is not found begins later, so it commits
 * behind the first position, which the last statement finds unchanged.
 */
async function openIfQuiet(session: PoolClient): Promise<bigint | null> {
  const before = await insertPosition(session)
  const { rows } = await session.query<{ is_quiet: boolean }>(
    'select not exists (select from pg_stat_activity where backend_xid is not null) as is_quiet',
  )
  await session.query('begin transaction isolation level repeatable read, read only')
  const after = await insertPosition(session)
  return rows[0]?.is_quiet === true && before === after ? before : null
}

async function insertPosition(session: PoolClient): Promise<bigint> {
  const { rows } = await session.query<{ lsn: string }>(
    'select pg_current_wal_insert_lsn()::text as lsn',
  )
  return toPosition(rows[0]?.lsn)
}

/** Resolves once the WAL is on disk up to there. */
export async function untilFlushed(
  pool: Pool,
  position: bigint,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    const { rows } = await pool.query<{ lsn: string }>(
      'select pg_current_wal_flush_lsn()::text as lsn',
    )
    if (toPosition(rows[0]?.lsn) >= position) return
    await pause(20, signal)
  }
}

/** A segment of the WAL: its file, and how many of its first bytes belong to the range. */
export type Segment = { name: string; bytes: number }

/** The bytes at the beginning of a segment that hold no record (XLogLongPageHeaderData). */
const headerBytes = 40n

/** The segments that hold a range, in order. */
export function segmentsOf({ timeline, segmentBytes, start, end }: WalRange): Segment[] {
  const segments: Segment[] = []
  for (let number = start / segmentBytes; number * segmentBytes + headerBytes < end; number++) {
    const left = end - number * segmentBytes
    segments.push({
      name: segmentName(timeline, number, segmentBytes),
      bytes: Number(left < segmentBytes ? left : segmentBytes),
    })
  }
  return segments
}

function segmentName(timeline: number, number: bigint, segmentBytes: bigint): string {
  const perFile = 0x1_0000_0000n / segmentBytes
  return [BigInt(timeline), number / perFile, number % perFile]
    .map(part => part.toString(16).toUpperCase().padStart(8, '0'))
    .join('')
}

/** `16/B374D848` as a number. */
function toPosition(text: string | undefined): bigint {
  const [high, low] = (text ?? '').split('/')
  if (!high || !low) throw new Error(`${text} is no position in the WAL`)
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`)
}
