import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Artifact, ArtifactDeleted } from '../../../../../../schemas/artifacts/artifacts.ts'
import { Ask } from '../../../design/ask.tsx'
import { Failure, Shown } from '../../../design/notice.tsx'
import { addressOf, reread } from '../../../session/api.ts'
import { request } from '../../../session/session.ts'
import { bytesOf } from '../../../words/amounts.ts'
import { visible } from '../../../words/visible.ts'
import { useWords } from '../../../words/words.ts'
import { pathOfRun } from '../use-run.ts'
import { forEach } from './list.ts'
import styles from './tab.module.css'
import { words } from './words.ts'

const addressOfArtifact = ({ artifact_id }: Artifact) =>
  `/api/artifacts/${encodeURIComponent(artifact_id)}`

type Kept = { artifact: Artifact; why: string }
/** What a deletion would do: `going` with its outcome, `kept` with the server's reason. */
type Foretold = { going: Artifact[]; details: string[]; freed: number; kept: Kept[] }

async function foretell(artifacts: readonly Artifact[]): Promise<Foretold> {
  const replies = await forEach(artifacts, one =>
    request<ArtifactDeleted>('DELETE', addressOf(addressOfArtifact(one), { dry_run: true })),
  )
  const foretold: Foretold = { going: [], details: [], freed: 0, kept: [] }
  for (const [nth, artifact] of artifacts.entries()) {
    const reply = replies[nth]
    if (reply?.status === 'fulfilled') {
      foretold.going.push(artifact)
      foretold.details.push(reply.value.detail)
      foretold.freed += reply.value.freed_bytes
    } else foretold.kept.push({ artifact, why: messageOf(reply?.reason) })
  }
  return foretold
}

const messageOf = (reason: unknown) => (reason instanceof Error ? reason.message : String(reason))

type Props = {
  artifacts: readonly Artifact[]
  onClose: () => void
  /** Called after every deletion was tried: how many succeeded, and the failures. */
  onDone: (deleted: number, failed: Kept[]) => void
}

/** Shows first what would happen to the bytes, and which artifacts stay because something needs them. */
export function DeleteDialog({ artifacts, onClose, onDone }: Props) {
  const say = useWords(words)
  const [first] = artifacts
  const [isBusy, setBusy] = useState(false)
  const foretold = useQuery({
    queryKey: ['deletion', ...artifacts.map(one => one.artifact_id)],
    queryFn: () => foretell(artifacts),
    gcTime: 0,
    staleTime: 0,
    retry: false,
    refetchOnWindowFocus: false,
  })
  const going = foretold.data?.going ?? []
  const remove = async () => {
    setBusy(true)
    const replies = await forEach(going, one => request('DELETE', addressOfArtifact(one)))
    const failed = going.flatMap((artifact, nth) => {
      const reply = replies[nth]
      return reply?.status === 'rejected' ? [{ artifact, why: messageOf(reply.reason) }] : []
    })
    onClose()
    onDone(going.length - failed.length, failed)
    if (first) await reread(pathOfRun(first.run_id))
  }
  return (
    <Ask
      title={
        artifacts.length === 1 && first
          ? say.deleteNamed(first.path)
          : say.deleteMany(artifacts.length)
      }
      text={artifacts.length === 1 ? say.delete : say.deleteMany(going.length)}
      isDangerous
      busy={isBusy}
      unless={foretold.data === undefined ? say.checking : going.length === 0 && say.allKept}
      onYes={() => void remove()}
      onClose={onClose}
    >
      <Shown of={foretold}>{outcome => <Outcome of={outcome} />}</Shown>
    </Ask>
  )
}

function Outcome({ of: { going, details, freed, kept } }: { of: Foretold }) {
  const say = useWords(words)
  return (
    <>
      {going.length > 0 && (
        <p>
          {going.length === 1 && `${details[0]}. `}
          {freed > 0 && say.frees(bytesOf(freed))} {say.isForGood}
        </p>
      )}
      {going.length > 1 && <Paths of={going.map(artifact => ({ artifact }))} />}
      {kept.length > 0 && (
        <>
          <h3>{say.kept(kept.length)}</h3>
          <Paths of={kept} />
        </>
      )}
    </>
  )
}

type PathsProps = { of: readonly { artifact: Artifact; why?: string }[] }

const Paths = ({ of }: PathsProps) => (
  <ul className={styles.paths}>
    {of.map(({ artifact, why }) => (
      <li key={artifact.artifact_id}>
        <span>{visible(artifact.path)}</span>
        {why !== undefined && <span className={styles.soft}>{visible(why)}</span>}
      </li>
    ))}
  </ul>
)

/** How a deletion ended: each failure with its reason. */
export function Deleted({ deleted, failed }: { deleted: number; failed: readonly Kept[] }) {
  const say = useWords(words)
  return (
    <>
      <p role="status">{say.deletedMany(deleted)}</p>
      {failed.map(({ artifact, why }) => (
        <Failure key={artifact.artifact_id} error={`${visible(artifact.path)}: ${why}`} />
      ))}
    </>
  )
}
