import { DeprecateVersion } from '../../shell/version-acts.tsx'
import { type Named, pathOf, pathOfVersion, type Version } from './paths.ts'

type Props = { dataset: Named; version: Pick<Version, 'version' | 'ref'>; onClose: () => void }

export const Deprecate = ({ dataset, version: { version, ref }, onClose }: Props) => (
  <DeprecateVersion
    {...{ ref, onClose }}
    path={pathOfVersion(dataset, version)}
    lists={[pathOf(dataset), '/api/datasets']}
  />
)
