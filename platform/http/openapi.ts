import type { TObject } from 'typebox'
import { validationError } from '../../schemas/shared.ts'
import { type RefusalCode, statusOfRefusal } from '../refusal.ts'
import type { Media, RouteShape } from './route.ts'

export type Document = Record<string, unknown>

/** The parts of a document other than its routes. */
export type Description<Route> = {
  info: { title: string; version: string; description: string }
  securitySchemes: Document
  securityOf: (route: Route) => Document[]
  /** The refusals for callers who may not call a route. */
  refusalsOfStrangers: (route: Route) => readonly RefusalCode[]
  /** Fields that a refusal may have in addition to `detail`. */
  refusalFields: Document
}

/** OpenAPI 3.1 of a route table, from the same values as routing and validation. */
export function openApi<Route extends RouteShape>(
  routes: readonly Route[],
  description: Description<Route>,
): Document {
  const paths: Record<string, Document> = {}
  for (const route of routes) {
    const operations = paths[route.path] ?? {}
    operations[route.method.toLowerCase()] = operation(route, description)
    paths[route.path] = operations
  }
  return {
    openapi: '3.1.0',
    info: description.info,
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
  { securityOf, refusalsOfStrangers }: Description<Route>,
): Document {
  const parameters = [...parametersOf(route.params, 'path'), ...parametersOf(route.query, 'query')]
  return {
    operationId: operationId(route),
    tags: [route.tag],
    summary: route.summary,
    security: securityOf(route),
    ...(parameters.length > 0 && { parameters }),
    ...(route.body && {
      requestBody: {
        required: !route.bodyMayBeAbsent,
        content: { 'application/json': { schema: published(route.body, 'sent') } },
      },
    }),
    responses: responses(route, refusalsOfStrangers(route)),
  }
}

const operationId = ({ method, path }: RouteShape) =>
  `${method.toLowerCase()}${path.replace(/[^A-Za-z0-9]+([A-Za-z0-9]?)/g, (_, next: string) => next.toUpperCase())}`

function parametersOf(schema: TObject | undefined, place: 'path' | 'query'): Document[] {
  return Object.entries(schema?.properties ?? {}).map(([name, property]) => ({
    name,
    in: place,
    required:
      place === 'path' || (schema?.required as string[] | undefined)?.includes(name) === true,
    schema: property,
  }))
}

function responses(route: RouteShape, ofStrangers: readonly RefusalCode[]): Document {
  const codes: RefusalCode[] = [...(route.refusals ?? []), 'unavailable', ...ofStrangers]
  if (route.rateLimit) codes.push('rate_limited')
  if (route.body) codes.push('too_large', 'unsupported_media_type', 'invalid')
  const refused = Object.fromEntries(
    [...new Set(codes)].map(code => [
      statusOfRefusal[code],
      json('Refusal', 'Refused; `detail` says why'),
    ]),
  )
  const checked = route.body ?? route.query ?? route.params
  return {
    431: json('Refusal', 'The head of the request, its address included, exceeds 16 KiB'),
    200: success(route.response),
    ...refused,
    ...(checked && { 422: json('HTTPValidationError', 'The request does not fit its schema') }),
  }
}

const json = (component: string, description: string) => ({
  description,
  content: { 'application/json': { schema: { $ref: `#/components/schemas/${component}` } } },
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
