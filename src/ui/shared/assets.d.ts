/** The URL of a picture in the build. */
declare module "*.svg" {
  const url: string;
  export default url;
}
