import { readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Static } from 'typebox'
import type { Kind } from '../../../datasets/report.ts'
import type {
  DatasetVersionInput,
  datasetVersionCreated,
  datasetVersionDetail,
} from '../../../schemas/datasets/datasets.ts'
import { upload } from '../api/upload.ts'
import { describe, repeated } from '../program/describe.ts'
import { type ExitCode, exitCode, usageFailure } from '../program/failure.ts'
import { pause } from '../program/pause.ts'
import { pathIn } from '../program/process.ts'
import {
  type CommonOptions,
  type Flags,
  openSignedIn,
  type Session,
  type Texts,
  type World,
} from '../program/session.ts'
import { size } from '../terminal/amounts.ts'
import { toJson } from '../terminal/harmless.ts'
import { ofKind, showErrors, withoutIndexes } from './check.ts'
import { checkFiles, type LocalFile, localFiles, sha256Of, tokenizerIn } from './files.ts'
import { pathOfDataset, pathOfVersion } from './reference.ts'

type Created = Static<typeof datasetVersionCreated>
type Detail = Static<typeof datasetVersionDetail>
type PushOptions = CommonOptions &
  Texts<'tokenizer' | 'license' | 'card' | 'use'> &
  Flags<'public' | 'private'> & { kind?: Kind; parent: string[]; wait: boolean }

export const describeDatasetPush = describe({
  text: 'check files, send them, and make them the next version of a dataset',
  operands: {
    '<dataset>': 'OWNER/NAME, or NAME for one of your own',
    '<files...>': 'files or folders: .jsonl, .csv, .tsv or .parquet',
  },
  options: {
    ...ofKind,
    '--tokenizer <file>': 'a tokenizer.json, to count tokens as well',
    '--license <name>': 'e.g. apache-2.0',
    '--card <file>': 'what the dataset is, as Markdown',
    '--public': 'everybody may see it, and use it unless --use granted',
    '--private': 'only people who are granted it, as at first',
    '--use <who>': { text: 'who uses a public dataset', choices: ['everybody', 'granted'] },
    '--parent <ref>': repeated('a version that this one was made from: OWNER/NAME@N'),
    '--no-wait': 'do not wait for the validation',
  },
  after: `
Nothing is sent if a line has a fault; the exit code is then 1. Files that the server already has are not sent again.`,
})

export async function datasetPush(
  world: World,
  named: string,
  paths: readonly string[],
  options: PushOptions,
): Promise<ExitCode> {
  const session = await openSignedIn(world, options)
  if (options.public && options.private)
    throw usageFailure('--public and --private exclude each other')
  const files = await localFiles(world.process, paths)
  if (options.tokenizer !== undefined) await tokenizerIn(world.process, options.tokenizer)
  const report = await checkFiles(world, files, { kind: options.kind ?? null, tokenizer: null })
  if (report.error_count > 0) {
    if (session.isJson) session.terminal.data(toJson(withoutIndexes(report)))
    else showErrors(session, report)
    return exitCode.faulty
  }
  const body = await bodyOf(session, files, options)
  const path = await pathOfDataset(session.api, named)
  const made = await session.api.post<Created>(`${path}/versions`, body, { creates: true })
  return showMade(session, made, options.wait ? await untilValidated(session, made) : null)
}

/** `version`: null if nobody waits for its validation. */
function showMade(session: Session, made: Created, version: Detail | null): ExitCode {
  const { terminal, isJson } = session
  const isInvalid = version?.state === 'invalid'
  if (isJson) terminal.data(toJson(version ?? made))
  else {
    if (!made.created) terminal.note(`${made.ref} has the same files; no version was made`)
    terminal.data(made.ref)
    if (isInvalid) showErrors(session, { ...version, error_count: version.error_count ?? 0 })
  }
  return isInvalid ? exitCode.faulty : exitCode.ok
}

async function bodyOf(
  session: Session,
  files: readonly LocalFile[],
  { kind, tokenizer, license, card, use, parent, ...flags }: PushOptions,
): Promise<DatasetVersionInput> {
  const { process } = session
  const text = card === undefined ? null : await readFile(pathIn(process, card), 'utf8')
  const sent: DatasetVersionInput['files'] = []
  for (const file of files) sent.push({ upload_id: await send(session, file), name: file.name })
  return {
    files: sent,
    parents: parent,
    ...(kind !== undefined && { kind }),
    ...(license !== undefined && { license }),
    ...(text !== null && { card: text }),
    ...(flags.public && { visibility: 'public' }),
    ...(flags.private && { visibility: 'private' }),
    ...(use !== undefined && { use: use === 'granted' ? 'granted' : 'everybody' }),
    ...(tokenizer !== undefined && { tokenizer: await sendTokenizer(session, tokenizer) }),
  }
}

async function sendTokenizer(session: Session, named: string) {
  const path = pathIn(session.process, named)
  const { size: bytes } = await stat(path)
  const name = basename(named, '.json')
  return { name, upload_id: await send(session, { path, name: basename(named), bytes }) }
}

async function send({ api, terminal }: Session, { path, name, bytes }: LocalFile): Promise<string> {
  const show = (sent: number) => terminal.status(`${name}: ${size(sent)} of ${size(bytes)} sent`)
  try {
    return await upload(
      api,
      { file: path, bytes, sha256: await sha256Of(path) },
      {
        purpose: 'dataset',
        filename: basename(name),
        content_type: 'application/octet-stream',
        onProgress: show,
      },
    )
  } finally {
    terminal.status(null)
  }
}

/** Pauses between two looks, in milliseconds. */
const lookMs = { first: 200, most: 2_000 }

/** Interrupting it does not stop the validation. */
async function untilValidated({ api, terminal }: Session, { ref }: Created): Promise<Detail> {
  const path = pathOfVersion(ref)
  for (let ms = lookMs.first; ; ms = Math.min(ms * 1.5, lookMs.most)) {
    const version = await api.get<Detail>(path)
    if (version.state !== 'validating') {
      terminal.status(null)
      return version
    }
    terminal.status(`${ref} is validated by the server; Ctrl-C stops waiting only`)
    await pause(ms)
  }
}
