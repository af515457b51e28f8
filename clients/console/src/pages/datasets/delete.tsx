import { useNavigate } from '@tanstack/react-router'
import { reread } from '../../session/api.ts'
import { DeleteVersion } from '../../shell/version-acts.tsx'
import { type Named, pathOfVersion, type Use, type Version } from './paths.ts'
import { UserLink } from './uses.tsx'

type Props = { dataset: Named; version: Pick<Version, 'version' | 'ref'>; onClose: () => void }

export function Delete({ dataset, version: { version, ref }, onClose }: Props) {
  const navigate = useNavigate()
  const { owner, name } = dataset
  return (
    <DeleteVersion<Use['type']>
      {...{ ref, onClose }}
      path={pathOfVersion(dataset, version)}
      inUse="dataset.in_use"
      link={one => <UserLink of={one} />}
      onDeleted={async () => {
        await navigate({ to: '/datasets/$owner/$name', params: { owner, name }, search: {} })
        await reread('/api/datasets')
      }}
    />
  )
}
