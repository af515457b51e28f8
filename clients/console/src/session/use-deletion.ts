import { useQuery } from '@tanstack/react-query'
import { addressOf } from './api.ts'
import { request } from './session.ts'

/** What the deletion at an address would break, without deleting anything. Read again whenever it is asked for. */
export const useDeletion = <T>(path: string) =>
  useQuery({
    queryKey: ['deletion', path],
    queryFn: () => request<T>('DELETE', addressOf(path, { dry_run: true })),
    ...{ gcTime: 0, staleTime: 0, retry: false, refetchOnWindowFocus: false },
  })
