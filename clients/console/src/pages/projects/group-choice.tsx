import { useQuery } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type { projectHparamKeys } from '../../../../../schemas/series.ts'
import { Select } from '../../design/field.tsx'
import { reading } from '../../session/api.ts'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import { words } from './words.ts'

export type HparamKeys = Static<typeof projectHparamKeys>

export const readingHparamKeys = (project: string) =>
  reading<HparamKeys>(`/api/projects/${encodeURIComponent(project)}/hparam-keys`, {})

export const bands = ['minmax', 'std'] as const
export type Band = (typeof bands)[number]

type Props = {
  project: string
  group: string | undefined
  band: Band
  onGroup: (group: string | undefined) => void
  onBand: (band: Band) => void
}

/** By what the runs are grouped, and the band around the mean of each group. */
export function GroupChoice({ project, group, band, onGroup, onBand }: Props) {
  const say = useWords(words)
  const read = useQuery(readingHparamKeys(project))
  const hparams = (read.data?.keys ?? []).filter(({ distinct }) => distinct > 1)
  const values = [...['', 'state', 'recipe', 'tag'], ...hparams.map(({ key }) => `hparams.${key}`)]
  const known = group === undefined || values.includes(group) ? values : [...values, group]
  const fixed: Record<string, string> = {
    ...{ '': say.noGroup, state: say.byState, recipe: say.byRecipe, tag: say.byTag },
  }
  return (
    <>
      <Select
        label={say.groupBy}
        value={group ?? ''}
        choices={known.map(value => ({
          value,
          text: fixed[value] ?? visible(value.replace(/^hparams\./, '')),
        }))}
        onChange={value => onGroup(value === '' ? undefined : value)}
      />
      {group !== undefined && (
        <Select<Band>
          label={say.band}
          value={band}
          choices={bands.map(value => ({ value, text: say[value] }))}
          onChange={onBand}
        />
      )}
    </>
  )
}
