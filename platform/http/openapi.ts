import type { TObject } from 'typebox'
import { validationError } from '../../schemas/shared.ts'
import { meaningOfRefusal, type RefusalCode, statusOfRefusal } from '../refusal.ts'
import type { Media, RouteShape } from './route.ts'

export type Document = Record<string, unknown>

type Example = { parameters: Document; body?: unknown }

/** The parts of a document other than its routes. */
export type Description<Route> = {
  info: { title: string; version: string; description: string }
  /** The path or address before all paths. */
  server: string
  securitySchemes: Document
  securityOf: (route: Route) => Document[]
  /** The refusals for callers who have no access to a route. */
  refusalsOfStrangers: (route: Route) => readonly RefusalCode[]
  /** What a caller should know before calling. */
  describe: (route: Route) => string
  /** A request that works: its parameters by name, and its body. */
  exampleOf: (route: Route) => Example
  /** Additional fields of a refusal, besides `detail`. */
  refusalFields: Document
  /** The status of a request that does not fit its schema. */
  statusOfFaults: (route: Route) => number
}

/** OpenAPI 3.1 of a route table, from the same values as routing and validation. */
export function openApi<Route extends RouteShape>(
  routes: readonly Route[],
  description: Description<Route>,
): Document {
  const paths: Record<string, Document> = {}
  for (const route of routes) {
    // OpenAPI cannot express a parameter that contains slashes.
    const path = route.path.replace('{+', '{')
    const operations = paths[path] ?? {}
    operations[route.method.toLowerCase()] = operation(route, description)
    paths[path] = operations
  }
  return {
    openapi: '3.1.0',
    info: description.info,
    servers: [{ url: description.server }],
    paths,
    components: {
      schemas: {
        ValidationError: validationError,
        HTTPValidationError: {
          title: 'HTTPValidationError',
          type: 'object',
          required: ['detail'],
          properties: {
            detail: { type: 'array', items: { $ref: '#/components/schemas/ValidationError' } },
            request_id: { type: 'string' },
          },
        },
        Refusal: {
          title: 'Refusal',
          type: 'object',
          required: ['detail'],
          properties: {
            detail: { type: 'string' },
            code: { type: 'string' },
            request_id: { type: 'string' },
            data: { type: 'object' },
            hint: { type: 'string' },
            ...description.refusalFields,
          },
        },
      },
      securitySchemes: description.securitySchemes,
    },
  }
}

function operation<Route extends RouteShape>(
  route: Route,
  description: Description<Route>,
): Document {
  const { securityOf, describe, exampleOf } = description
  const example = exampleOf(route)
  const parameters = [
    ...parametersOf(route.params, 'path', example.parameters),
    ...parametersOf(route.query, 'query', example.parameters),
  ]
  return {
    operationId: operationId(route),
    tags: [route.tag],
    summary: route.summary,
    description: describe(route),
    'x-codeSamples': [{ lang: 'Shell', source: curlOf(route, securityOf(route), example) }],
    security: securityOf(route),
    ...(parameters.length > 0 && { parameters }),
    ...(route.body && {
      requestBody: {
        required: !route.bodyMayBeAbsent,
        content: {
          'application/json': {
            schema: published(route.body, 'sent'),
            ...(example.body !== undefined && { example: example.body }),
          },
          ...(route.binaryBody && binaryContent(route.binaryBody.mediaType)),
        },
      },
    }),
    ...(route.rawBody && {
      requestBody: { content: binaryContent(route.rawBody) },
    }),
    responses: responses(route, description),
  }
}

const binaryContent = (mediaType: string): Document => ({
  [mediaType]: { schema: { type: 'string', format: 'binary' } },
})

const operationId = ({ method, path }: RouteShape) =>
  `${method.toLowerCase()}${path.replace(/[^A-Za-z0-9]+([A-Za-z0-9]?)/g, (_, next: string) => next.toUpperCase())}`

/** A command that calls the route, given FORGE_HOST and FORGE_TOKEN. */
function curlOf(
  { method, path, body, rawBody }: RouteShape,
  security: Document[],
  example: Example,
) {
  const asked = new URLSearchParams()
  const named = new Map(Object.entries(example.parameters).map(([key, value]) => [key, `${value}`]))
  const at = path.replaceAll(/\{\+?(\w+)\}/g, (_, key: string) => {
    const value = named.get(key) ?? key
    named.delete(key)
    return encodeURIComponent(value)
  })
  for (const [key, value] of named) asked.set(key, value)
  const query = asked.size > 0 ? `?${asked}` : ''
  const json = example.body === undefined ? null : JSON.stringify(example.body)
  return [
    `curl -sS -w '\\n' -X ${method} "$FORGE_HOST${at}${query}"`,
    ...(security.length === 0 ? [] : ['-H "Authorization: Bearer $FORGE_TOKEN"']),
    ...(rawBody ? [`-H 'Content-Type: ${rawBody}'`, '--data-binary @FILE'] : []),
    ...(body && json !== null ? ["-H 'Content-Type: application/json'", `-d '${json}'`] : []),
  ].join(' \\\n  ')
}

function parametersOf(
  schema: TObject | undefined,
  place: 'path' | 'query',
  example: Document,
): Document[] {
  return Object.entries(schema?.properties ?? {}).map(([name, property]) => ({
    name,
    in: place,
    required:
      place === 'path' || (schema?.required as string[] | undefined)?.includes(name) === true,
    schema: property,
    ...(example[name] !== undefined && { example: example[name] }),
  }))
}

function responses<Route extends RouteShape>(
  route: Route,
  { refusalsOfStrangers, statusOfFaults }: Description<Route>,
): Document {
  const codes: RefusalCode[] = [
    ...(route.refusals ?? []),
    ...(['unavailable', ...refusalsOfStrangers(route)] as const),
  ]
  if (route.rateLimit) codes.push('rate_limited')
  if (route.body) codes.push('too_large', 'unsupported_media_type', 'invalid')
  const byStatus = Map.groupBy(new Set(codes), code => statusOfRefusal[code])
  const refused = Object.fromEntries(
    [...byStatus].map(([status, same]) => [
      status,
      json('Refusal', same.map(code => `\`${code}\`: ${meaningOfRefusal[code]}`).join('; ')),
    ]),
  )
  const checked = route.body ?? route.query ?? route.params
  return {
    431: json('Refusal', '`too_large`: the head of the request, including its URL, exceeds 16 KiB'),
    200: success(route.response),
    ...refused,
    ...(checked && faults(statusOfFaults(route), refused)),
  }
}

/** If schema faults share their status with refusals, `detail` is a list or a sentence. */
function faults(status: number, refused: Record<string, Refused>): Record<string, Refused> {
  const of = '`invalid`: the request does not fit its schema; `detail` lists each fault'
  const other = refused[status]
  if (!other) return { [status]: json('HTTPValidationError', of) }
  return { [status]: json('Refusal', `${other.description}; ${of}`, 'HTTPValidationError') }
}

type Refused = { description: string; content: Document }

const refTo = (component: string) => ({ $ref: `#/components/schemas/${component}` })

const json = (component: string, description: string, or?: string): Refused => ({
  description,
  content: {
    'application/json': {
      schema: or === undefined ? refTo(component) : { anyOf: [refTo(component), refTo(or)] },
    },
  },
})

function success(response: RouteShape['response']): Document {
  if (isMedia(response)) {
    const types = [response.mediaType].flat()
    return {
      description: response.description,
      content: Object.fromEntries(types.map(type => [type, { schema: { type: 'string' } }])),
    }
  }
  const schema = published(response, 'answered')
  return { description: 'Done', content: { 'application/json': { schema } } }
}

const isMedia = (response: RouteShape['response']): response is Media => 'mediaType' in response

/**
 * A schema for the document. In requests a field with a default is optional, although it is always present after
 * validation. Tuples are written as in JSON Schema 2020-12.
 */
function published(schema: unknown, direction: 'sent' | 'answered'): unknown {
  if (Array.isArray(schema)) return schema.map(item => published(item, direction))
  if (typeof schema !== 'object' || schema === null) return schema
  const shown: Document = Object.fromEntries(
    Object.entries(schema).map(([word, value]) => [word, published(value, direction)]),
  )
  const { items, properties, required } = shown
  if (Array.isArray(items)) {
    delete shown.additionalItems
    delete shown.items
    // Equivalent to `items: false`, which tools that translate to older drafts cannot handle.
    Object.assign(shown, { prefixItems: items, maxItems: items.length })
  }
  if (direction === 'sent' && Array.isArray(required) && isObject(properties))
    shown.required = required.filter(name => !hasDefault(properties[name]))
  return shown
}

const isObject = (value: unknown): value is Document => typeof value === 'object' && value !== null

const hasDefault = (schema: unknown): boolean => isObject(schema) && 'default' in schema
