import { Link } from '@tanstack/react-router'
import Ellipsis from 'lucide-react/icons/ellipsis'
import { useState } from 'react'
import type { Static } from 'typebox'
import type { Artifact, downloadAddress } from '../../../../../../schemas/artifacts/artifacts.ts'
import { isInStore } from '../../../../../../schemas/artifacts/in-store.ts'
import { Button, quietLink } from '../../../design/button.tsx'
import { Icon } from '../../../design/icon.tsx'
import { Menu, MenuItem } from '../../../design/menu.tsx'
import { Failure } from '../../../design/notice.tsx'
import { useCopied } from '../../../design/use-copied.ts'
import { request } from '../../../session/session.ts'
import { PushDialog } from '../../../shell/push-dialog.tsx'
import { useWords } from '../../../words/words.ts'
import { isGoing, isModel } from './list.ts'
import { RegisterDialog } from './register.tsx'
import styles from './tab.module.css'
import { words } from './words.ts'

type Props = { artifact: Artifact; project: string; onDelete: () => void }

/** The actions on an artifact: the two that follow a good checkpoint, and a menu. */
export function ArtifactActions({ artifact, project, onDelete }: Props) {
  const say = useWords(words)
  const [isRegistering, setRegistering] = useState(false)
  const [isPushing, setPushing] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const { copy } = useCopied()
  const { artifact_id, kind, path, sha256, init_from } = artifact
  if (isGoing(artifact)) return null
  const fetch = () => {
    setError(null)
    fetchContent(artifact_id).catch(setError)
  }
  return (
    <span className={styles.actions}>
      {isModel(artifact) && (
        <>
          <Link
            to="/deployments"
            search={{ artifact: artifact_id }}
            aria-label={say.deployNamed(path)}
            className={quietLink}
          >
            {say.deploy}
          </Link>
          <Button
            kind="quiet"
            aria-label={say.registerNamed(path)}
            onClick={() => setRegistering(true)}
          >
            {say.register}
          </Button>
        </>
      )}
      <Menu label={say.moreOf(path)} shown={<Icon of={Ellipsis} />} isQuiet>
        {isInStore(path) && <MenuItem onSelect={fetch}>{say.download}</MenuItem>}
        {kind === 'hf_export' && isInStore(path) && (
          <MenuItem onSelect={() => setPushing(true)}>{say.push}</MenuItem>
        )}
        {init_from && (
          <MenuItem onSelect={() => copy(`init_from: { artifact_id: ${artifact_id} }`)}>
            {say.copyStart}
          </MenuItem>
        )}
        {sha256 !== null && <MenuItem onSelect={() => copy(sha256)}>{say.copyChecksum}</MenuItem>}
        <MenuItem onSelect={() => copy(artifact_id)}>{say.copyId}</MenuItem>
        <MenuItem isDangerous onSelect={onDelete}>
          {say.delete}
        </MenuItem>
      </Menu>
      <Failure error={error} />
      {isRegistering && (
        <RegisterDialog {...{ artifact, project }} onClose={() => setRegistering(false)} />
      )}
      {isPushing && (
        <PushDialog
          source={{ artifact_id }}
          what={path.slice(path.lastIndexOf('/') + 1)}
          onClose={() => setPushing(false)}
        />
      )}
    </span>
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
