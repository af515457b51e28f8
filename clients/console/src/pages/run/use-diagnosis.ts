import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import type { Diagnosis } from '../../../../../schemas/diagnoses.ts'
import { reading, reread } from '../../session/api.ts'
import { pathOfRun, type RunRecord } from './use-run.ts'
import { isUnderWay } from './why.ts'

export const pathOfDiagnoses = (runId: string): string => `${pathOfRun(runId)}/diagnoses`

/** The newest diagnosis of a run; `isWanted`: whether it has to be read. */
export function useDiagnosis(run: RunRecord, isWanted = true) {
  const found = useQuery({
    ...reading<Diagnosis[]>(pathOfDiagnoses(run.run_id)),
    enabled: isWanted,
    refetchInterval: ({ state }) => (isUnderWay(state.data?.[0]) ? 1_500 : false),
  })
  const newest = found.data?.[0]
  const isNow = isUnderWay(newest)
  const wasUnderWay = useRef(false)
  useEffect(() => {
    // The sentence that says why it failed is in the record of the run, and in lists.
    if (wasUnderWay.current && !isNow) void reread('/api/runs')
    wasUnderWay.current = isNow
  }, [isNow])
  return { newest, error: found.error }
}
