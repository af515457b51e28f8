import { type Query, QueryClient, type QueryKey } from '@tanstack/react-query'
import { ApiFailure, isPassing } from './failure.ts'
import { accepted, authorized, request } from './session.ts'

/** Reads the API. The path is the key, so that code which changes a thing can name what to read again. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      queryFn: ({ queryKey, signal }) => request('GET', addressOfKey(queryKey), { signal }),
      staleTime: 2_000,
      // Reads are retried while the server is away; a refusal is not retried.
      retry: (_, error) => isPassing(error),
      retryDelay: attempt => Math.min(10_000, 500 * 2 ** attempt),
      networkMode: 'always',
      refetchOnWindowFocus: true,
    },
    mutations: { retry: false, networkMode: 'always' },
  },
})

type Asked = Readonly<Record<string, string | number | boolean | null | undefined>>

const addressOfKey = ([path, query]: QueryKey): string => addressOf(String(path), query as Asked)

/** A path with its query; null, undefined and empty values are omitted. */
export function addressOf(path: string, query: Asked = {}): string {
  const given = Object.entries(query).filter(([, value]) => value != null && value !== '')
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return text === '' ? path : `${path}?${text}`
}

/** The options of `useQuery` for a path: `useQuery(reading<Me>('/api/auth/me'))`. */
export const reading = <T>(path: string, query?: Asked) => ({
  queryKey: query ? [path, query] : [path],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    request<T>('GET', addressOf(path, query), { signal }),
})

/**
 * Reads everything again whose path begins with this, except requests that the server could not understand: it never will.
 * A read waits until it reflects the caller's own writes.
 */
export const reread = (...prefixes: string[]): Promise<unknown> =>
  queries.invalidateQueries({ predicate: beginsWith(prefixes) })

/** The same from time to time, without a reason: reads in progress are waited for and not begun again, so that slow ones finish. */
export const refresh = (...prefixes: string[]): Promise<unknown> =>
  queries.invalidateQueries({ predicate: beginsWith(prefixes) }, { cancelRefetch: false })

const beginsWith =
  (prefixes: readonly string[]) =>
  ({ queryKey, state }: Query): boolean =>
    !(state.error instanceof ApiFailure && state.error.status === 422) &&
    prefixes.some(prefix => String(queryKey[0]).startsWith(prefix))

/** A page of a list, and the length of the list: null where the server stops counting, at 10,000. */
export type Page<T> = { rows: T[]; total: number | null }

/** The options of `useQuery` for a page of a list. */
export const readingPage = <T>(path: string, query: Asked) => ({
  queryKey: [path, query, 'page'],
  queryFn: async ({ signal }: { signal: AbortSignal }): Promise<Page<T>> => {
    const response = await authorized('GET', addressOf(path, query), { signal })
    const rows = (await accepted(response)) as T[]
    const total = response.headers.get('x-total-count') ?? ''
    return { rows, total: /^\d+$/.test(total) ? Number(total) : null }
  },
})
