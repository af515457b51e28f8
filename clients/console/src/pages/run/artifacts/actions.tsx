import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Static } from 'typebox'
import type {
  Artifact,
  ArtifactDeleted,
  downloadAddress,
} from '../../../../../../schemas/artifacts/artifacts.ts'
import { Button } from '../../../design/button.tsx'
import { Dialog, DialogEnd } from '../../../design/dialog.tsx'
import { Failure, Shown } from '../../../design/notice.tsx'
import { addressOf, reread } from '../../../session/api.ts'
import { request } from '../../../session/session.ts'
import { bytesOf } from '../../../words/amounts.ts'
import { useWords } from '../../../words/words.ts'
import { pathOfRun } from '../use-run.ts'
import { words } from './words.ts'

/** The actions on an artifact. */
export function ArtifactActions({ artifact }: { artifact: Artifact }) {
  const say = useWords(words)
  const [asks, setAsks] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const { path, status } = artifact
  const isGoing = status === 'deleting' || status === 'deleted'
  return (
    <>
      {path.startsWith('forge://') && !isGoing && (
        <Button
          kind="quiet"
          onClick={() => {
            setError(null)
            fetchContent(artifact.artifact_id).catch(setError)
          }}
        >
          {say.download}
        </Button>
      )}
      <Button
        kind="quiet"
        aria-label={say.deleteNamed(path)}
        unless={isGoing && say.isGoing}
        onClick={() => setAsks(true)}
      >
        {say.delete}
      </Button>
      <Failure error={error} />
      {asks && <DeleteDialog artifact={artifact} onClose={() => setAsks(false)} />}
    </>
  )
}

/** Requests the address of the bytes only on demand: it is signed and expires. */
async function fetchContent(id: string): Promise<void> {
  const { url } = await request<Static<typeof downloadAddress>>(
    'GET',
    `/api/artifacts/${id}/download-url`,
  )
  location.assign(url)
}

/** Shows first what would happen to the bytes, or which runs need them. */
function DeleteDialog({ artifact, onClose }: { artifact: Artifact; onClose: () => void }) {
  const say = useWords(words)
  const [error, setError] = useState<unknown>(null)
  const [busy, setBusy] = useState(false)
  const { artifact_id, run_id, path } = artifact
  const address = `/api/artifacts/${encodeURIComponent(artifact_id)}`
  const foretold = useQuery({
    queryKey: [address, 'deletion'],
    queryFn: () => request<ArtifactDeleted>('DELETE', addressOf(address, { dry_run: true })),
    gcTime: 0,
    staleTime: 0,
    retry: false,
  })
  const remove = async () => {
    setBusy(true)
    setError(null)
    try {
      await request('DELETE', address)
      onClose()
      await reread(pathOfRun(run_id))
    } catch (failure) {
      setError(failure)
      setBusy(false)
    }
  }
  return (
    <Dialog title={say.deleteNamed(path)} onClose={onClose}>
      <Shown of={foretold}>
        {({ detail, freed_bytes }) => (
          <>
            <p>
              {detail}. {freed_bytes > 0 && say.frees(bytesOf(freed_bytes))} {say.isForGood}
            </p>
            <Failure error={error} />
            <DialogEnd onCancel={onClose}>
              <Button kind="main" isDangerous busy={busy} onClick={() => void remove()}>
                {say.delete}
              </Button>
            </DialogEnd>
          </>
        )}
      </Shown>
    </Dialog>
  )
}
