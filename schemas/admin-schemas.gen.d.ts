/** The schemas of the admin API by their titles, with references to the components of an OpenAPI document. */
export declare const schemas: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
