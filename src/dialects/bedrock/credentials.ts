export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** A key of the form `ACCESS_KEY_ID:SECRET_ACCESS_KEY[:SESSION_TOKEN]`; null for any other, which is a bearer token. */
export function awsCredentials(apiKey: string): AwsCredentials | null {
  const [accessKeyId = "", secretAccessKey = "", sessionToken, ...rest] = apiKey.split(":");
  if (accessKeyId === "" || secretAccessKey === "" || sessionToken === "" || rest.length > 0) return null;
  return { accessKeyId, secretAccessKey, sessionToken };
}
