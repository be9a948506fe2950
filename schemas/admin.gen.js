// Generated from schemas/*.schema.json by `npm run types`. Do not edit.
import { isLonger } from "../src/kit/texts.ts";
import { createRequire } from "node:module";
const require = createRequire(import.meta.url);
export const AuditQuery = validate11;
const schema12 = {"title":"AuditQuery","description":"Parameters of GET /admin/audit.","type":"object","additionalProperties":false,"required":[],"properties":{"limit":{"description":"Entries of a page; 50 when absent.","$ref":"#/definitions/PageLimit"},"cursor":{"description":"From next_cursor of the page before.","$ref":"#/definitions/PageCursor"}}};
const schema13 = {"title":"PageLimit","description":"Entries of a page; 50 when absent.","type":"integer","minimum":1,"maximum":200};
const schema14 = {"title":"PageCursor","description":"From next_cursor of the page before.","type":"string","minLength":1,"maxLength":512};
const func2 = isLonger;

function validate11(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
const _errs1 = errors;
for(const key0 in data){
if(!((key0 === "limit") || (key0 === "cursor"))){
validate11.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema12,data}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.limit !== undefined){
let data0 = data.limit;
const _errs2 = errors;
const _errs3 = errors;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
validate11.errors = [{instancePath:instancePath+"/limit",schemaPath:"#/definitions/PageLimit/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema13.type,parentSchema:schema13,data:data0}];
return false;
}
if(errors === _errs3){
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 200 || isNaN(data0)){
validate11.errors = [{instancePath:instancePath+"/limit",schemaPath:"#/definitions/PageLimit/maximum",keyword:"maximum",params:{comparison: "<=", limit: 200},message:"must be <= 200",schema:200,parentSchema:schema13,data:data0}];
return false;
}
else {
if(data0 < 1 || isNaN(data0)){
validate11.errors = [{instancePath:instancePath+"/limit",schemaPath:"#/definitions/PageLimit/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema13,data:data0}];
return false;
}
}
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.cursor !== undefined){
let data1 = data.cursor;
const _errs5 = errors;
const _errs6 = errors;
if(errors === _errs6){
if(typeof data1 === "string"){
if(!func2(data1, 0)){
validate11.errors = [{instancePath:instancePath+"/cursor",schemaPath:"#/definitions/PageCursor/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema14,data:data1}];
return false;
}
else {
if(func2(data1, 512)){
validate11.errors = [{instancePath:instancePath+"/cursor",schemaPath:"#/definitions/PageCursor/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:512,parentSchema:schema14,data:data1}];
return false;
}
}
}
else {
validate11.errors = [{instancePath:instancePath+"/cursor",schemaPath:"#/definitions/PageCursor/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema14.type,parentSchema:schema14,data:data1}];
return false;
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate11.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema12.type,parentSchema:schema12,data}];
return false;
}
}
validate11.errors = vErrors;
return errors === 0;
}

export const RollbackRequest = validate12;
const schema15 = {"title":"RollbackRequest","description":"Body of POST /admin/rollback.","type":"object","additionalProperties":false,"required":[],"properties":{"to":{"description":"A hash or the beginning of one, or how many generations back; 1 when absent.","type":["string","integer"],"minimum":0,"maxLength":128}}};

function validate12(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
const _errs1 = errors;
for(const key0 in data){
if(!(key0 === "to")){
validate12.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema15,data}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.to !== undefined){
let data0 = data.to;
const _errs2 = errors;
if((typeof data0 !== "string") && (!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0))))){
validate12.errors = [{instancePath:instancePath+"/to",schemaPath:"#/properties/to/type",keyword:"type",params:{type: schema15.properties.to.type},message:"must be string,integer",schema:schema15.properties.to.type,parentSchema:schema15.properties.to,data:data0}];
return false;
}
if(errors === _errs2){
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 < 0 || isNaN(data0)){
validate12.errors = [{instancePath:instancePath+"/to",schemaPath:"#/properties/to/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema15.properties.to,data:data0}];
return false;
}
}
if(errors === _errs2){
if(typeof data0 === "string"){
if(func2(data0, 128)){
validate12.errors = [{instancePath:instancePath+"/to",schemaPath:"#/properties/to/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:128,parentSchema:schema15.properties.to,data:data0}];
return false;
}
}
}
}
}
}
}
else {
validate12.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema15.type,parentSchema:schema15,data}];
return false;
}
}
validate12.errors = vErrors;
return errors === 0;
}

export const ExplainRequest = validate13;
const schema16 = {"title":"ExplainRequest","description":"Body of POST /admin/explain: a request that might be made, or with `request` one of the decision log.","type":"object","additionalProperties":true,"properties":{}};

function validate13(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
}
else {
validate13.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema16.type,parentSchema:schema16,data}];
return false;
}
}
validate13.errors = vErrors;
return errors === 0;
}

export const ConfigurationDiffQuery = validate14;
const schema17 = {"title":"ConfigurationDiffQuery","description":"Parameters of GET /admin/config/diff.","type":"object","additionalProperties":false,"required":["from"],"properties":{"from":{"description":"Hash of a kept generation, or the beginning of one.","type":"string","minLength":4,"maxLength":64},"to":{"description":"The same; what serves when absent.","type":"string","minLength":4,"maxLength":64}}};

function validate14(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.from === undefined) && (missing0 = "from")){
validate14.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema17.required,parentSchema:schema17,data}];
return false;
}
else {
const _errs1 = errors;
for(const key0 in data){
if(!((key0 === "from") || (key0 === "to"))){
validate14.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema17,data}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.from !== undefined){
let data0 = data.from;
const _errs2 = errors;
if(errors === _errs2){
if(typeof data0 === "string"){
if(!func2(data0, 3)){
validate14.errors = [{instancePath:instancePath+"/from",schemaPath:"#/properties/from/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:4,parentSchema:schema17.properties.from,data:data0}];
return false;
}
else {
if(func2(data0, 64)){
validate14.errors = [{instancePath:instancePath+"/from",schemaPath:"#/properties/from/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:64,parentSchema:schema17.properties.from,data:data0}];
return false;
}
}
}
else {
validate14.errors = [{instancePath:instancePath+"/from",schemaPath:"#/properties/from/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema17.properties.from.type,parentSchema:schema17.properties.from,data:data0}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.to !== undefined){
let data1 = data.to;
const _errs4 = errors;
if(errors === _errs4){
if(typeof data1 === "string"){
if(!func2(data1, 3)){
validate14.errors = [{instancePath:instancePath+"/to",schemaPath:"#/properties/to/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:4,parentSchema:schema17.properties.to,data:data1}];
return false;
}
else {
if(func2(data1, 64)){
validate14.errors = [{instancePath:instancePath+"/to",schemaPath:"#/properties/to/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:64,parentSchema:schema17.properties.to,data:data1}];
return false;
}
}
}
else {
validate14.errors = [{instancePath:instancePath+"/to",schemaPath:"#/properties/to/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema17.properties.to.type,parentSchema:schema17.properties.to,data:data1}];
return false;
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
else {
validate14.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema17.type,parentSchema:schema17,data}];
return false;
}
}
validate14.errors = vErrors;
return errors === 0;
}

export const AdminSessionRequest = validate15;
const schema18 = {"title":"AdminSessionRequest","description":"Body of POST /admin/session.","type":"object","additionalProperties":false,"required":["token"],"properties":{"token":{"description":"One of the tokens of server.admin.","type":"string","minLength":1,"maxLength":4096}}};

function validate15(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.token === undefined) && (missing0 = "token")){
validate15.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema18.required,parentSchema:schema18,data}];
return false;
}
else {
const _errs1 = errors;
for(const key0 in data){
if(!(key0 === "token")){
validate15.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema18,data}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.token !== undefined){
let data0 = data.token;
const _errs2 = errors;
if(errors === _errs2){
if(typeof data0 === "string"){
if(!func2(data0, 0)){
validate15.errors = [{instancePath:instancePath+"/token",schemaPath:"#/properties/token/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema18.properties.token,data:data0}];
return false;
}
else {
if(func2(data0, 4096)){
validate15.errors = [{instancePath:instancePath+"/token",schemaPath:"#/properties/token/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:4096,parentSchema:schema18.properties.token,data:data0}];
return false;
}
}
}
else {
validate15.errors = [{instancePath:instancePath+"/token",schemaPath:"#/properties/token/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema18.properties.token.type,parentSchema:schema18.properties.token,data:data0}];
return false;
}
}
}
}
}
}
else {
validate15.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema18.type,parentSchema:schema18,data}];
return false;
}
}
validate15.errors = vErrors;
return errors === 0;
}

export const UpstreamManualRequest = validate16;
const schema19 = {"title":"UpstreamManualRequest","description":"Body of POST /admin/upstreams/{name}/manual.","type":"object","additionalProperties":false,"required":["mode","expires_in_seconds","reason"],"properties":{"mode":{"description":"What.","$ref":"#/definitions/ManualMode"},"expires_in_seconds":{"description":"After which it ends by itself; up to 7 days.","type":"integer","minimum":1,"maximum":604800},"reason":{"description":"For those who find it.","type":"string","minLength":1,"maxLength":500}}};
const schema20 = {"title":"ManualMode","description":"drain: no new requests, running ones finish; open: as an open breaker; close: tried whatever its breaker has counted.","enum":["drain","open","close"]};

function validate16(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((data.mode === undefined) && (missing0 = "mode")) || ((data.expires_in_seconds === undefined) && (missing0 = "expires_in_seconds"))) || ((data.reason === undefined) && (missing0 = "reason"))){
validate16.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema19.required,parentSchema:schema19,data}];
return false;
}
else {
const _errs1 = errors;
for(const key0 in data){
if(!(((key0 === "mode") || (key0 === "expires_in_seconds")) || (key0 === "reason"))){
validate16.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema19,data}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.mode !== undefined){
let data0 = data.mode;
const _errs2 = errors;
if(!(((data0 === "drain") || (data0 === "open")) || (data0 === "close"))){
validate16.errors = [{instancePath:instancePath+"/mode",schemaPath:"#/definitions/ManualMode/enum",keyword:"enum",params:{allowedValues: schema20.enum},message:"must be equal to one of the allowed values",schema:schema20.enum,parentSchema:schema20,data:data0}];
return false;
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.expires_in_seconds !== undefined){
let data1 = data.expires_in_seconds;
const _errs4 = errors;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
validate16.errors = [{instancePath:instancePath+"/expires_in_seconds",schemaPath:"#/properties/expires_in_seconds/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema19.properties.expires_in_seconds.type,parentSchema:schema19.properties.expires_in_seconds,data:data1}];
return false;
}
if(errors === _errs4){
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 > 604800 || isNaN(data1)){
validate16.errors = [{instancePath:instancePath+"/expires_in_seconds",schemaPath:"#/properties/expires_in_seconds/maximum",keyword:"maximum",params:{comparison: "<=", limit: 604800},message:"must be <= 604800",schema:604800,parentSchema:schema19.properties.expires_in_seconds,data:data1}];
return false;
}
else {
if(data1 < 1 || isNaN(data1)){
validate16.errors = [{instancePath:instancePath+"/expires_in_seconds",schemaPath:"#/properties/expires_in_seconds/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema19.properties.expires_in_seconds,data:data1}];
return false;
}
}
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.reason !== undefined){
let data2 = data.reason;
const _errs6 = errors;
if(errors === _errs6){
if(typeof data2 === "string"){
if(!func2(data2, 0)){
validate16.errors = [{instancePath:instancePath+"/reason",schemaPath:"#/properties/reason/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema19.properties.reason,data:data2}];
return false;
}
else {
if(func2(data2, 500)){
validate16.errors = [{instancePath:instancePath+"/reason",schemaPath:"#/properties/reason/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:500,parentSchema:schema19.properties.reason,data:data2}];
return false;
}
}
}
else {
validate16.errors = [{instancePath:instancePath+"/reason",schemaPath:"#/properties/reason/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema19.properties.reason.type,parentSchema:schema19.properties.reason,data:data2}];
return false;
}
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
else {
validate16.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema19.type,parentSchema:schema19,data}];
return false;
}
}
validate16.errors = vErrors;
return errors === 0;
}

export const validators = { AuditQuery, RollbackRequest, ExplainRequest, ConfigurationDiffQuery, AdminSessionRequest, UpstreamManualRequest };
export const parameters = {"AuditQuery":{"limit":"integer","cursor":"string"},"ConfigurationDiffQuery":{"from":"string","to":"string"}};
